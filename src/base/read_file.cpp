#include "base/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "base/unique_fd.h"

namespace tracer {
inline namespace base {

std::string read_file(const std::string& path, std::size_t max_size) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  return read_descriptor(file.get(), max_size);
}

std::string read_descriptor(int file, std::size_t max_size) {
  constexpr std::size_t min_buffer = 16384;
  std::string text;
  std::size_t used = 0;
  struct ::stat status {};
  if (::fstat(file, &status) == 0) {
    // One byte more than the file has lets a single further read(2) see its end.
    text.resize(std::min(std::max(min_buffer, static_cast<std::size_t>(status.st_size) + 1), max_size));
  }
  while (file >= 0 && used < max_size) {
    if (used == text.size()) {
      text.resize(std::min(std::max(min_buffer, 2 * used), max_size));
    }
    ssize_t count = 0;
    do {
      count = ::read(file, text.data() + used, text.size() - used);
    } while (count < 0 && errno == EINTR);
    if (count <= 0) {
      break;
    }
    used += static_cast<std::size_t>(count);
  }
  text.resize(used);
  return text;
}

std::string read_link(const std::string& path) {
  std::array<char, PATH_MAX + 1> target;
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  return length > 0 ? std::string(target.data(), static_cast<std::size_t>(length)) : std::string{};
}

}  // namespace base
}  // namespace tracer
