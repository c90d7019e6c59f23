// The paths of -P: only calls that access one of them are shown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tracer::filter {

class PathSet {
 public:
  /// Adds `path` as given. If realpath(3) resolves it to another path, adds that too and returns the note to print,
  /// without the program's name; otherwise returns an empty string.
  std::string add(const std::string& path);

  [[nodiscard]] bool empty() const { return paths_.empty(); }
  /// True if `path`, the argument of a call, is in the set. It is compared byte for byte, not resolved.
  [[nodiscard]] bool has(std::string_view path) const;
  /// True if `link`, the target of /proc/PID/fd/N, is in the set. ` (deleted)` at its end is ignored.
  [[nodiscard]] bool has_link(std::string_view link) const;
  /// Returns the length of the longest path: readers of tracee memory need at most one byte more.
  [[nodiscard]] std::size_t longest() const;

 private:
  std::vector<std::string> paths_;
};

}  // namespace tracer::filter
