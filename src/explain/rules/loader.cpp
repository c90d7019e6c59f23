// Failures of the dynamic loader, interpreters and the linker, which print the failure; the machine shows the reason.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/directory.h"
#include "base/read_file.h"
#include "explain/file_header.h"
#include "explain/rules/rules.h"
#include "explain/shell_word.h"

namespace tracer::explain::rules {

namespace {

std::string after_last(const std::string& text, std::string_view separator) {
  const std::size_t at = text.rfind(separator);
  return at == std::string::npos ? text : text.substr(at + separator.size());
}

/// Returns the directories where the loader looked for a library, in order, without glibc-hwcaps subdirectories.
std::vector<std::string> library_directories_tried(const Process& process, const std::string& library) {
  std::vector<std::string> directories;
  for (const Step& step : process.steps) {
    if (step.kind != Step::Kind::failure || base_name(step.path) != library) {
      continue;
    }
    std::string directory = directory_of(step.path);
    directory = directory.substr(0, directory.find("/glibc-hwcaps"));
    if (std::find(directories.begin(), directories.end(), directory) == directories.end()) {
      directories.push_back(directory);
    }
  }
  return directories;
}

/// Returns other places where the library exists.
std::vector<std::string> find_elsewhere(const Case& facts, const std::string& library) {
  const std::string beside = directory_of(facts.process.executable());
  std::vector<std::string> found;
  for (const std::string& directory :
       {beside, beside + "/lib", directory_of(beside) + "/lib", std::string("/usr/local/lib"),
        std::string("/usr/local/lib64"), std::string("/usr/lib"), std::string("/usr/lib64"),
        std::string("/usr/lib/x86_64-linux-gnu"), std::string("/usr/lib/aarch64-linux-gnu"), std::string("/usr/lib32"),
        std::string("/usr/lib/i386-linux-gnu"), std::string("/opt/lib"), facts.process.working_directory,
        facts.process.working_directory + "/lib"}) {
    std::string path = directory;
    path += '/';
    path += library;
    if (!directory.empty() && facts.prober.exists(path) && std::find(found.begin(), found.end(), path) == found.end()) {
      found.push_back(path);
    }
  }
  return found;
}

const Step* first_lookup(const Process& process, const std::string& library) {
  const auto at = std::find_if(process.steps.begin(), process.steps.end(), [&](const Step& step) {
    return step.kind == Step::Kind::failure && base_name(step.path) == library;
  });
  return at == process.steps.end() ? nullptr : &*at;
}

/// Finds a library that the loader opened and skipped because it has another word size.
std::optional<Finding> wrong_class_among_opened(const Case& facts, const std::string& library, unsigned own_bits) {
  for (const Opened& opened : facts.process.opened) {
    if (base_name(opened.path) != library) {
      continue;
    }
    const FileHeader header = read_header(facts.prober.tracer_path(opened.path));
    if (header.kind == FileHeader::Kind::elf && own_bits != 0 && header.bits != own_bits) {
      Finding finding;
      finding.rule = "wrong-elf-class";
      finding.cause =
          fmt::format("{} is a {}-bit library, and the program is a {}-bit one", opened.path, header.bits, own_bits);
      finding.remedy = fmt::format("install the {}-bit build of {}", own_bits, library);
      finding.weight = 10;
      return finding;
    }
  }
  return std::nullopt;
}

/// Finds a library of that name that is there, but that the loader could not open: without permission, or a link that
/// leads nowhere.
std::optional<Finding> unusable_library(const Case& facts, const std::string& library) {
  for (const Step& step : facts.process.steps) {
    const bool is_lookup = step.kind == Step::Kind::failure && step.order >= facts.process.last_exec &&
                           base_name(step.path) == library && is_listed(step.call.name, "open openat");
    const Walk walk = is_lookup ? facts.prober.walk(step.path) : Walk();
    Finding finding;
    if (is_lookup && step.call.error == "EACCES" && facts.snapshot()) {
      const Component* closed = facts.prober.unsearchable_directory(walk);
      const FileInfo* info = closed != nullptr ? &closed->info : walk.exists() ? &walk.info() : nullptr;
      if (info == nullptr) {
        continue;
      }
      finding.cause = facts.prober.user() +
                      (closed != nullptr ? " may not enter the directory " + closed->path
                                         : " may not read the library " + step.path) +
                      " (" + Prober::describe(*info) + ")" + (closed != nullptr ? ", which holds " + library : "");
      finding.remedy = closed != nullptr ? "chmod o+x " + shell_word(printable(closed->path))
                                         : "chmod o+r " + shell_word(printable(step.path));
    } else if (is_lookup && !walk.dangling.empty() && base_name(walk.dangling) == library) {
      finding.cause = walk.dangling + " is a link to what does not exist: " + walk.stopped;
      finding.remedy =
          "install the library again, or set the link right: ln -sfn TARGET " + shell_word(printable(walk.dangling));
    } else {
      continue;
    }
    finding.rule = "library-not-usable";
    finding.looked_at.push_back(facts.prober.describe_path(walk));
    finding.evidence.push_back(&step);
    finding.weight = 10;
    return finding;
  }
  return std::nullopt;
}

/// The loader found a file of that name that is no library.
std::optional<Finding> damaged_library(const Case& facts) {
  for (const std::string_view words :
       {": invalid ELF header", ": file too short", ": cannot read file data", ": ELF load command"}) {
    const std::string line = line_with(facts.messages, words);
    const std::string library = line.empty() ? std::string() : after_last(word_before(line, words), " ");
    const auto& opened = facts.process.opened;
    const auto at = std::find_if(opened.rbegin(), opened.rend(), [&](const Opened& one) {
      return !library.empty() && base_name(one.path) == base_name(library);
    });
    if (at == opened.rend() || contains(line, "cannot be preloaded")) {
      continue;
    }
    const FileHeader header = read_header(facts.prober.tracer_path(at->path));
    Finding finding;
    finding.cause =
        at->path + (header.kind == FileHeader::Kind::empty ? " is empty, and no library"
                    : header.kind == FileHeader::Kind::elf ? " is damaged: it is shorter than its header says"
                                                           : " is no ELF library, but a text or other file");
    if (contains(first_line(read_file(facts.prober.tracer_path(at->path), 64)), "git-lfs")) {
      finding.looked_at.emplace_back("it is a pointer of git-lfs: the file itself was not fetched");
      finding.remedy = "git lfs pull";
    } else {
      finding.remedy = "install or build " + base_name(library) + " again";
    }
    return finding;
  }
  return std::nullopt;
}

/// The loader found the library and could not map its code.
std::optional<Finding> unmappable_library(const Case& facts) {
  const std::string_view words = ": failed to map segment from shared object";
  const std::string library = after_last(word_before(line_with(facts.messages, words), words), " ");
  const auto& opened = facts.process.opened;
  const auto at = std::find_if(opened.rbegin(), opened.rend(), [&](const Opened& one) {
    return !library.empty() && base_name(one.path) == base_name(library);
  });
  const Prober::Mount mount = at == opened.rend() ? Prober::Mount() : facts.prober.mount(at->path);
  if (!mount.no_execute) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = "the library " + at->path + " is on a file system that is mounted with noexec (" + mount.point + ")";
  finding.remedy = "mount -o remount,exec " + shell_word(mount.point) + ", or put the library elsewhere";
  return finding;
}

std::optional<Finding> missing_library(const Case& facts) {
  const std::string line = line_with(without_remarks(facts.messages), ": cannot open shared object file");
  const std::string library =
      printable(base_name(after_last(word_before(line, ": cannot open shared object file"), " ")));
  if (library.empty()) {
    return std::nullopt;
  }
  const std::string program = facts.process.executable();
  const FileHeader header = read_header(facts.prober.tracer_path(program));
  if (auto other_class = wrong_class_among_opened(facts, library, header.bits)) {
    return other_class;
  }
  if (auto unusable = unusable_library(facts, library)) {
    return unusable;
  }
  Finding finding;
  const std::vector<std::string> tried = library_directories_tried(facts.process, library);
  const std::vector<std::string> elsewhere = find_elsewhere(facts, library);
  finding.cause =
      "the shared library " + library + " is missing: it is in none of the directories that the loader looks in";
  if (const Step* step = first_lookup(facts.process, library); step != nullptr) {
    finding.evidence.push_back(step);
  }
  if (!header.run_path.empty()) {
    finding.rule = "bad-run-path";
    const std::string directory = header.run_path.substr(0, header.run_path.find(':'));
    const bool relative = directory.compare(0, 1, "$") == 0;
    finding.cause = "the shared library " + library + " is missing: the RUNPATH of " + base_name(program) +
                    " leads to " + header.run_path + ", which " +
                    (relative || facts.prober.exists(directory) ? "does not hold it" : "does not exist");
  }
  if (!tried.empty()) {
    finding.looked_at.push_back("tried: " + join(tried, ", "));
  }
  if (elsewhere.empty()) {
    finding.looked_at.emplace_back("it is nowhere in the usual places");
    finding.remedy = "install the package that holds it (Debian: apt-file search " + shell_word(library) + ")";
  } else {
    finding.looked_at.push_back("there is " + join(elsewhere, ", "));
    const std::string directory = shell_word(printable(directory_of(elsewhere.front())));
    finding.remedy = "LD_LIBRARY_PATH=" + directory + " " + shell_word(printable(base_name(program))) + " …, or add " +
                     directory + " to /etc/ld.so.conf.d and run ldconfig";
  }
  return finding;
}

std::optional<Finding> wrong_class(const Case& facts) {
  const std::string line = line_with(facts.messages, ": wrong ELF class");
  const std::string library = printable(word_before(line, ": wrong ELF class"));
  Finding finding;
  const bool is_32 = line.find("ELFCLASS32") != std::string::npos;
  finding.cause = library + " is a " + (is_32 ? "32" : "64") + "-bit library, and the program is a " +
                  (is_32 ? "64" : "32") + "-bit one";
  finding.remedy = std::string("install the ") + (is_32 ? "64" : "32") + "-bit build of " + base_name(library);
  return line.find("cannot be preloaded") != std::string::npos ? std::nullopt : std::optional(finding);
}

std::optional<Finding> symbol_version(const Case& facts) {
  const std::string line = line_with(facts.messages, ": version `");
  const std::string version = printable(word_after(line, ": version `", "'"));
  const std::string library = printable(after_last(word_before(line, ": version `"), " "));
  const std::string by = printable(word_after(line, "(required by ", ")"));
  if (version.empty() || line.find("not found") == std::string::npos) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = by + " needs the version " + version + " of " + base_name(library) + ", which is older here";
  std::vector<std::string> offered = read_header(facts.prober.tracer_path(library)).versions;
  const std::string family = version.substr(0, version.find('_') + 1);
  offered.erase(std::remove_if(offered.begin(), offered.end(),
                               [&](const std::string& v) {
                                 return v.compare(0, family.size(), family) != 0 ||
                                        v.find("PRIVATE") != std::string::npos;
                               }),
                offered.end());
  if (!offered.empty()) {
    finding.looked_at.push_back(library + " offers versions up to " + printable(offered.back()));
  }
  finding.remedy = family == "GLIBC_" ? "run a build for this system (its C library is older than the one that " +
                                            base_name(by) + " was built with), or upgrade the system"
                                      : "install a newer " + base_name(library);
  return finding;
}

std::optional<Finding> undefined_symbol(const Case& facts) {
  const std::string line = line_with(facts.messages, "undefined symbol: ");
  const std::string symbol = printable(word_after(line, "undefined symbol: ", ", \t("));
  const std::string by = printable(after_last(word_before(line, ": undefined symbol"), " "));
  if (symbol.empty() || by == "error") {
    return std::nullopt;  // of a linker, which builds a program
  }
  Finding finding;
  finding.cause = by + " needs the symbol " + symbol + ", which none of the loaded libraries has: a library is of " +
                  "another version than the one that it was built with";
  std::vector<std::string> libraries;
  for (const Opened& opened : facts.process.opened) {
    if (is_library_name(opened.path) && base_name(opened.path) != "ld.so.cache") {
      libraries.push_back(opened.path);
    }
  }
  if (!libraries.empty() && libraries.size() < 12) {
    finding.looked_at.push_back("loaded: " + join(libraries, ", "));
  }
  finding.remedy = "install the matching version of the library, or build " + base_name(by) + " again";
  return finding;
}

/// The message of an interpreter about a missing module, and the remedy.
struct Language {
  std::string_view words;  ///< text before the module's name
  std::string_view stops;  ///< characters that end the name
  std::string_view name;
  std::string_view remedy;
};
constexpr std::string_view add_to_class_path = "add its jar or directory to the class path: java -cp";
constexpr Language languages[] = {
    {"No module named ", "\n", "Python module",
     "install it (Debian: python3-…, or pip in a virtual environment), or run the Python that has it"},
    {"Can't locate ", " ", "Perl module",
     "install it (Debian: apt-file search, or cpan), or name its directory: perl -I"},
    {"Cannot find module '", "'", "Node.js module",
     "npm install in the directory of package.json, or correct the name"},
    {"Cannot find package '", "'", "Node.js module",
     "npm install in the directory of package.json, or correct the name"},
    {"there is no package called \xe2\x80\x98", "\xe2", "R package", "install.packages() in R (Debian: r-cran-…)"},
    {"Could not find gem '", "'", "Ruby gem", "bundle install in the directory of its Gemfile, or gem install"},
    {"cannot load such file -- ", " (", "Ruby module",
     "gem install, or bundle install in the directory of its Gemfile"},
    {"load main class ", "\n", "Java class", add_to_class_path},
    {"ClassNotFoundException: ", "\n", "Java class", add_to_class_path},
    {"module '", "'", "Lua module", "luarocks install, or name its directory in LUA_PATH and LUA_CPATH"},
    {"UnsatisfiedLinkError: no ", " ", "Java library", "name its directory: java -Djava.library.path=DIRECTORY"},
};

std::optional<Finding> missing_module(const Case& facts) {
  for (const Language& language : languages) {
    const std::string module =
        printable(word_after(line_with(facts.messages, language.words), language.words, language.stops));
    if (!module.empty()) {
      Finding finding;
      finding.cause =
          "the " + std::string(language.name) + ' ' + module + " is not installed for " + facts.process.executable();
      finding.remedy = language.remedy;
      return finding;
    }
  }
  return std::nullopt;
}

constexpr std::array<std::string_view, 2> link_errors = {"cannot find -l", "unable to find library -l"};

/// A library that the linker does not find when a program is built.
std::optional<Finding> library_to_link(const Case& facts) {
  std::string name;
  for (const std::string_view words : link_errors) {
    name = name.empty() ? printable(word_after(line_with(facts.messages, words), words, ": \n")) : name;
  }
  if (name.empty()) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = "the linker finds no library " + name + ": neither lib" + name + ".so nor lib" + name + ".a";
  finding.remedy = "install what programs are built with (Debian: apt-file search " + shell_word("lib" + name + ".so") +
                   "), or name its directory: -L DIRECTORY";
  return finding;
}

constexpr Rule loader_table[] = {
    {"missing-library", 30, "", "", ": cannot open shared object file", "", missing_library},
    {"library-not-usable", 45, "", "",
     ": invalid ELF header|: file too short|: cannot read file data|: ELF load command", "", damaged_library},
    {"noexec-mount", 45, "", "", ": failed to map segment from shared object", "", unmappable_library},
    {"missing-library-to-link", 40, "", "", "cannot find -l|unable to find library -l", "", library_to_link},
    {"wrong-elf-class", 30, "", "", ": wrong ELF class", "", wrong_class},
    {"symbol-version", 35, "", "", ": version `", "", symbol_version},
    {"undefined-symbol", 35, "", "", "undefined symbol: ", "", undefined_symbol},
    {"missing-module", 60, "", "",
     "ModuleNotFoundError: |: No module named |.pm in @INC|Error: Cannot find module '|]: Cannot find package '|"
     "cannot load such file -- |Could not find gem '|"
     "Error: Could not find or load main class |ClassNotFoundException: |UnsatisfiedLinkError: no |"
     "' not found:\n\tno field package.preload|there is no package called \xe2\x80\x98",
     "", missing_module},
};

}  // namespace

std::span<const Rule> loader_rules() {
  return loader_table;
}

}  // namespace tracer::explain::rules
