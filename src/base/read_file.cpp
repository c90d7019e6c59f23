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

std::string read_file(const std::string& path, std::size_t most) {
  constexpr std::size_t least = 16384;
  std::string text;
  std::size_t used = 0;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct ::stat status {};
  if (::fstat(file.get(), &status) == 0) {
    text.resize(
        std::min(std::max(least, static_cast<std::size_t>(status.st_size) + 1), most));  // with room for the end
  }
  while (file.valid() && used < most) {
    if (used == text.size()) {
      text.resize(std::min(std::max(least, 2 * used), most));
    }
    ssize_t count = 0;
    do {
      count = ::read(file.get(), text.data() + used, text.size() - used);
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
