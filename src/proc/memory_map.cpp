#include "proc/memory_map.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <charconv>

#include "base/read_file.h"
#include "base/unique_fd.h"
#include "proc/proc_text.h"

namespace tracer::proc {

namespace {

constexpr std::size_t max_map_bytes = std::size_t{64} << 20;  // vm.max_map_count is 65530 by default

/// Removes a number and the character `separator` after it from the start of `text` and returns the number.
std::optional<std::uint64_t> take_number(std::string_view& text, int base, char separator) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (error != std::errc{} || length >= text.size() || text[length] != separator) {
    return std::nullopt;
  }
  text.remove_prefix(length + 1);
  return value;
}

}  // namespace

std::string MappedRange::map_files_name() const {
  return fmt::format("{:x}-{:x}", start, end);
}

std::optional<MappedRange> parse_mapped_range(std::string_view line) {
  MappedRange range;
  const auto start = take_number(line, 16, '-');
  const auto end = start ? take_number(line, 16, ' ') : std::nullopt;
  constexpr std::size_t permissions = 4;
  if (!end || line.size() <= permissions) {
    return std::nullopt;
  }
  range.protection = line.substr(0, permissions);
  line.remove_prefix(permissions + 1);
  const auto offset = take_number(line, 16, ' ');
  const auto major = offset ? take_number(line, 16, ':') : std::nullopt;
  const auto minor = major ? take_number(line, 16, ' ') : std::nullopt;
  // A blank follows the inode even if there is no path.
  const auto inode = minor ? take_number(line, 10, ' ') : std::nullopt;
  if (!inode) {
    return std::nullopt;
  }
  range.start = *start;
  range.end = *end;
  range.file_offset = *offset;
  range.device = ::makedev(static_cast<unsigned>(*major), static_cast<unsigned>(*minor));
  range.inode = *inode;
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  range.path = line;
  return range;
}

std::string read_memory_map(pid_t tid) {
  return read_file(proc_path(tid, "maps"), max_map_bytes);
}

bool hides_memory_map(pid_t tid) {
  const UniqueFd file(::open(proc_path(tid, "maps").c_str(), O_RDONLY | O_CLOEXEC));
  // Mounted with hidepid=invisible, /proc does not even show that the thread is there.
  return !file.valid() && (errno == EACCES || (errno == ENOENT && (::kill(tid, 0) == 0 || errno == EPERM)));
}

}  // namespace tracer::proc
