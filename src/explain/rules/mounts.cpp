// Mounting, by mount(2) or step by step from fsopen(2) to move_mount(2).
#include <sys/stat.h>

#include <algorithm>

#include "base/read_file.h"
#include "explain/ranking.h"
#include "explain/rules/rules.h"
#include "explain/shell_word.h"

namespace tracer::explain::rules {

namespace {

bool needs_device(const std::string& type) {
  return type.empty() || !contains(read_file("/proc/filesystems", 65536), "nodev\t" + type + '\n');
}

/// Returns the kernel's own words about the failed call: read by the program, or repeated by mount(8); empty if there
/// are none.
std::string kernel_words(const Case& facts) {
  if (facts.step->mount != nullptr && !facts.step->mount->kernel_message.empty()) {
    return facts.step->mount->kernel_message;
  }
  const std::string before = facts.call().name + "() failed: ";
  std::string words = word_after(line_with(facts.messages, before), before, "");
  if (words.ends_with('.')) {
    words.pop_back();
  }
  return contains(words, error_text_of(facts.call().error)) ? std::string() : words;
}

void add_kernel_words(const Case& facts, Finding& finding) {
  if (const std::string words = kernel_words(facts); !words.empty()) {
    finding.looked_at.push_back("the kernel says: " + words);
  }
}

std::optional<Finding> unknown_file_system(const Case& facts) {
  const std::string type = facts.step->mount != nullptr ? facts.step->mount->type : std::string();
  if (type.empty()) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = "the kernel does not know the file system type " + printable(type);
  finding.looked_at.emplace_back("/proc/filesystems lists those that it knows");
  finding.remedy = "is it spelt right? Else load its module: modprobe " + shell_word(printable(type));
  return finding;
}

/// fsconfig(2) names the option. Else only the options of a file system without a device must be wrong.
std::optional<Finding> option_refused(const Case& facts) {
  if (facts.step->mount == nullptr) {
    return std::nullopt;
  }
  const MountRequest& request = *facts.step->mount;
  const bool is_known = !request.option.empty();
  if (request.type.empty() || (!is_known && (request.options.empty() || needs_device(request.type)))) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause =
      "the file system " + printable(request.type) + " does not take " +
      (is_known ? "the option " + printable(request.option) : "these options: " + printable(request.options));
  add_kernel_words(facts, finding);
  finding.remedy = std::string(is_known ? "correct it" : "correct them") + " (mount(8), " + printable(request.type) +
                   "(5))" + (finding.looked_at.empty() ? "; the end of dmesg may name the one" : "");
  return finding;
}

std::optional<Finding> no_block_device(const Case& facts) {
  const Walk source = facts.prober.walk(facts.step->path);
  if (facts.step->mount == nullptr || !source.exists() || S_ISBLK(source.info().st_mode)) {
    return std::nullopt;
  }
  const bool is_file = S_ISREG(source.info().st_mode);
  Finding finding;
  finding.cause = facts.step->path + " is " +
                  (is_file                          ? "a file and no block device"
                   : S_ISDIR(source.info().st_mode) ? "a directory and no block device"
                                                    : "no block device");
  finding.looked_at.push_back(facts.prober.describe_path(source));
  add_kernel_words(facts, finding);
  finding.remedy = is_file ? "mount -o loop, or name a device (lsblk lists them)" : "name a device (lsblk lists them)";
  return finding;
}

/// The root of a file system is a directory.
std::optional<Finding> mount_point_of_other_kind(const Case& facts) {
  if (facts.step->mount == nullptr) {
    return std::nullopt;
  }
  const Walk target = facts.prober.walk(facts.step->new_path);
  const Walk source = facts.prober.walk(facts.step->path);
  const bool is_new = !facts.step->mount->type.empty();
  if (!target.exists() || !(is_new || source.exists())) {
    return std::nullopt;
  }
  const bool is_directory = is_new || S_ISDIR(source.info().st_mode);
  if (is_directory == S_ISDIR(target.info().st_mode)) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = "the mount point " + facts.step->new_path + " is of the other kind: " +
                  (!is_directory ? "it is a directory, and a file can be mounted only on a file"
                   : is_new      ? "it is a file, and a file system can be mounted only on a directory"
                                 : "it is a file, and a directory can be mounted only on a directory");
  finding.looked_at.push_back(facts.prober.describe_path(target));
  finding.remedy = "name the right mount point";
  return finding;
}

/// What no other rule knows, in the kernel's own words.
std::optional<Finding> refused_by_kernel(const Case& facts) {
  const std::string words = kernel_words(facts);
  if (words.empty()) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = "the kernel refuses the mount: " + words;
  finding.remedy = "correct what it names (mount(8)); the end of dmesg may say more";
  finding.is_said = true;
  return finding;
}

constexpr std::string_view wrong_type = "wrong fs type, bad option, bad superblock on ";

/// mount(8) says this of all that fails with EINVAL.
std::optional<Finding> no_such_file_system(const Case& facts) {
  const std::string source = word_after(line_with(facts.messages, wrong_type), wrong_type, ",");
  const auto& steps = facts.process.steps;
  const auto last = std::find_if(steps.rbegin(), steps.rend(), [&](const Step& step) {
    return step.mount != nullptr && step.order >= facts.process.last_exec;
  });
  const bool is_of_device =
      last == steps.rend() || (last->call.name != "move_mount" && needs_device(last->mount->type));
  if (source.empty() || !is_of_device) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = source + " holds no file system of that type";
  finding.remedy = "file -s " + shell_word(source) + " shows what is in it";
  finding.is_said = true;
  return finding;
}

constexpr Rule mounts_table[] = {
    {"unknown-option", 80, "mount fsconfig", "EINVAL", "", "", option_refused},
    {"unknown-file-system", 40, "mount fsopen", "ENODEV", "", "", unknown_file_system},
    {"not-a-device", 80, "mount fsconfig", "ENOTBLK", "", "", no_block_device},
    {"file-as-folder", 80, "mount move_mount", "ENOTDIR EINVAL", "", "", mount_point_of_other_kind},
    {"mount-refused", 10, "fsconfig fsmount move_mount", "", "", "", refused_by_kernel},
    {"no-such-file-system", 65, "", "", wrong_type, "", no_such_file_system},
};

}  // namespace

std::span<const Rule> mount_rules() {
  return mounts_table;
}

}  // namespace tracer::explain::rules
