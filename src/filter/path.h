// -P: which files a call must touch to be shown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tracer::filter {

class PathSet {
 public:
  /// Adds a path as given. Where it leads elsewhere once symbolic links are followed (realpath(3)), that place is added
  /// too; the result is then the note to print, without the program's name, and else empty.
  std::string add(const std::string& path);

  [[nodiscard]] bool empty() const { return paths_.empty(); }
  /// A name as a call's argument has it: compared byte for byte, not resolved.
  [[nodiscard]] bool has(std::string_view path) const;
  /// What /proc/PID/fd/N links to. A file that was deleted since is still meant by its name.
  [[nodiscard]] bool has_link(std::string_view link) const;
  /// Length of the longest path: no need to read more than one byte beyond it.
  [[nodiscard]] std::size_t longest() const;

 private:
  std::vector<std::string> paths_;
};

}  // namespace tracer::filter
