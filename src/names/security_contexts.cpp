#include "names/security_contexts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <span>

#include "base/read_file.h"
#include "base/unique_fd.h"
#include "format/escape.h"
#include "proc/proc_text.h"
#include "proc/tracee_file.h"

namespace tracer::names {
namespace {

/// The most bytes of a context; the kernel's limit is a page.
constexpr std::size_t longest = 4096;

/// Returns the third of the parts between colons, or the whole context if it has fewer.
std::string_view type_of(std::string_view context) {
  for (int part = 0; part < 2; ++part) {
    const auto colon = context.find(':');
    if (colon == std::string_view::npos) {
      return context;
    }
    context.remove_prefix(colon + 1);
  }
  return context.substr(0, context.find(':'));
}

/// Returns the part of a context that is shown. The kernel may append a NUL or a newline.
std::string_view shown_part(std::string_view context, bool full) {
  context = context.substr(0, std::min(context.find('\0'), longest));
  while (context.ends_with('\n')) {
    context.remove_suffix(1);
  }
  return full ? context : type_of(context);
}

void append(TextBuffer& text, std::string_view part) {
  format::append_escaped(text, std::as_bytes(std::span(part)), "[]");
}

/// Returns where a directory of a thread is below the thread's root directory, such as `/` or `/home/`; empty if it is
/// not.
std::string place_below_root(pid_t tid, const std::string& directory) {
  const std::string root = read_link(proc::proc_path(tid, "root"));
  const std::string place = read_link(directory);
  const std::string above = root == "/" ? "" : root;
  return place.starts_with('/') && (place + '/').starts_with(above + '/') ? place.substr(above.size()) + '/'
                                                                          : std::string{};
}

}  // namespace

SecurityContexts::SecurityContexts(ContextOptions options, std::unique_ptr<ContextSource> source)
    : options_(options), source_(std::move(source)) {}

void SecurityContexts::of_process(TextBuffer& text, pid_t pid) const {
  if (const auto context = source_ ? source_->of_process(pid) : std::nullopt) {
    append(text, shown_part(*context, options_.full));
  }
}

void SecurityContexts::of_descriptor(TextBuffer& text, pid_t tid, int fd) const {
  if (source_) {
    of_link(text, proc::descriptor_path(tid, fd));
  }
}

void SecurityContexts::of_path(TextBuffer& text, pid_t tid, int directory, std::string_view path) const {
  if (!source_ || path.empty()) {
    return;
  }
  std::string whole(path);
  if (path.front() != '/') {
    const std::string place = place_below_root(
        tid, directory == AT_FDCWD ? proc::proc_path(tid, "cwd") : proc::descriptor_path(tid, directory));
    if (place.empty()) {
      return;
    }
    whole.insert(0, place);
  }
  // Neither the path nor a symbolic link leaves the thread's root directory.
  if (const UniqueFd file = proc::Root::of(tid).look_up(whole, 0, 0); file.valid()) {
    of_link(text, proc::descriptor_path(::getpid(), file.get()));
  }
}

void SecurityContexts::of_link(TextBuffer& text, const std::string& link) const {
  const auto context = source_->of_file(link);
  if (!context) {
    return;
  }
  const auto now = shown_part(*context, options_.full);
  append(text, now);
  struct stat status {};
  const std::string target = options_.mismatch ? read_link(link) : std::string{};
  if (!target.starts_with('/') || ::stat(link.c_str(), &status) != 0) {
    return;  // not asked for, or the file has no name
  }
  const auto recorded = source_->recorded(target, status.st_mode);
  const auto wanted = recorded ? shown_part(*recorded, options_.full) : now;
  if (wanted != now) {
    text.append("!!");
    append(text, wanted);
  }
}

}  // namespace tracer::names
