// SELinux contexts of what a call is about (--secontext).
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/text_buffer.h"

namespace tracer::names {

/// Where contexts come from: SELinux, or a test. Whoever may set a context decides what stands in it.
class ContextSource {
 public:
  virtual ~ContextSource() = default;
  /// Of the file that a path of the tracer's leads to.
  virtual std::optional<std::string> of_file(const std::string& path) = 0;
  virtual std::optional<std::string> of_process(pid_t pid) = 0;
  /// What the system's database has for a file of this name and st_mode.
  virtual std::optional<std::string> recorded(const std::string& path, mode_t mode) = 0;
};

struct ContextOptions {
  bool full = false;      ///< user, role, type and level; else the type alone
  bool mismatch = false;  ///< `now!!recorded` where they differ
};

class SecurityContexts {
 public:
  /// Without a source there are no contexts.
  SecurityContexts(ContextOptions options, std::unique_ptr<ContextSource> source);

  // Each appends a context, escaped and without brackets, or nothing. Ids are the tracer's own.
  void of_process(TextBuffer& text, pid_t pid) const;
  void of_descriptor(TextBuffer& text, pid_t tid, int fd) const;
  /// Of the file that `tid` means by a path, which starts at its descriptor `directory`, or AT_FDCWD.
  void of_path(TextBuffer& text, pid_t tid, int directory, std::string_view path) const;

  [[nodiscard]] bool shown() const { return source_ != nullptr; }

 private:
  void of_link(TextBuffer& text, const std::string& link) const;

  ContextOptions options_;
  std::unique_ptr<ContextSource> source_;
};

}  // namespace tracer::names
