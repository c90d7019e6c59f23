#include "base/read_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "base/unique_fd.h"

namespace tracer {

std::string read_file(const std::string& path, std::size_t most) {
  constexpr std::size_t piece = 16384;
  std::string text;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  while (file.valid() && text.size() < most) {
    const std::size_t size = text.size();
    text.resize(size + std::min(piece, most - size));
    ssize_t count = 0;
    do {
      count = ::read(file.get(), text.data() + size, text.size() - size);
    } while (count < 0 && errno == EINTR);
    text.resize(size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count <= 0) {
      break;
    }
  }
  return text;
}

std::string read_link(const std::string& path) {
  std::array<char, PATH_MAX + 1> target;
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  return length > 0 ? std::string(target.data(), static_cast<std::size_t>(length)) : std::string{};
}

}  // namespace tracer
