// SELinux contexts of files and processes (--secontext).
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/text_buffer.h"

namespace tracer::names {

/// The source of contexts: SELinux, or a test. Contexts are untrusted text.
class ContextSource {
 public:
  virtual ~ContextSource() = default;
  /// `path` is a path of the tracer.
  virtual std::optional<std::string> of_file(const std::string& path) = 0;
  virtual std::optional<std::string> of_process(pid_t pid) = 0;
  /// Returns the context that the system's database (file_contexts(5)) has for a file of this name and st_mode.
  virtual std::optional<std::string> recorded(const std::string& path, mode_t mode) = 0;
};

struct ContextOptions {
  bool full = false;      ///< user, role, type and level; otherwise the type alone
  bool mismatch = false;  ///< `now!!recorded` where they differ
};

class SecurityContexts {
 public:
  /// Without a source there are no contexts.
  SecurityContexts(ContextOptions options, std::unique_ptr<ContextSource> source);

  // These append a context, escaped and without brackets, or nothing. Ids are in the tracer's PID namespace.
  void of_process(TextBuffer& text, pid_t pid) const;
  void of_descriptor(TextBuffer& text, pid_t tid, int fd) const;
  /// `path` is a path of `tid` that starts at its descriptor `directory`, or AT_FDCWD.
  void of_path(TextBuffer& text, pid_t tid, int directory, std::string_view path) const;

  [[nodiscard]] bool shown() const { return source_ != nullptr; }

 private:
  void of_link(TextBuffer& text, const std::string& link) const;

  ContextOptions options_;
  std::unique_ptr<ContextSource> source_;
};

}  // namespace tracer::names
