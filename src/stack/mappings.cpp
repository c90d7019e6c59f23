#include "stack/mappings.h"

#include <fmt/core.h>
#include <sys/sysmacros.h>

#include <charconv>
#include <optional>

#include "base/read_file.h"

namespace tracer::stack {

namespace {

constexpr std::size_t longest_file = 64 << 20;  // bytes; vm.max_map_count is 65530 unless raised

/// Takes a hexadecimal or decimal number and the character behind it off the front of `text`.
std::optional<std::uint64_t> take_number(std::string_view& text, int base, char behind) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (error != std::errc{} || length >= text.size() || text[length] != behind) {
    return std::nullopt;
  }
  text.remove_prefix(length + 1);
  return value;
}

}  // namespace

bool parse_mapping(std::string_view line, Mapping& into) {
  const auto start = take_number(line, 16, '-');
  const auto end = start ? take_number(line, 16, ' ') : std::nullopt;
  constexpr std::size_t permissions = 5;  // "r-xp "
  if (!end || line.size() < permissions) {
    return false;
  }
  into.executable = line[2] == 'x';
  line.remove_prefix(permissions);
  const auto offset = take_number(line, 16, ' ');
  const auto major = offset ? take_number(line, 16, ':') : std::nullopt;
  const auto minor = major ? take_number(line, 16, ' ') : std::nullopt;
  // The inode is followed by a blank even where nothing more comes.
  const auto inode = minor ? take_number(line, 10, ' ') : std::nullopt;
  if (!inode) {
    return false;
  }
  into.start = *start;
  into.end = *end;
  into.file_offset = *offset;
  into.device = ::makedev(static_cast<unsigned>(*major), static_cast<unsigned>(*minor));
  into.inode = *inode;
  const auto path = line.find_first_not_of(' ');
  into.path = path == std::string_view::npos ? std::string_view{} : line.substr(path);
  return true;
}

std::vector<Mapping> read_mappings(pid_t tid, Which which) {
  std::vector<Mapping> mappings;
  const std::string text = read_file(fmt::format("/proc/{}/maps", tid), longest_file);
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto length = rest.find('\n');
    const std::string_view line = rest.substr(0, length);
    rest.remove_prefix(length == std::string_view::npos ? rest.size() : length + 1);
    // Most mappings hold no code. Their lines have the mark at the same place whatever the addresses' length.
    const auto permissions = line.find(' ');
    if (which == Which::executable &&
        (permissions == std::string_view::npos || permissions + 3 >= line.size() || line[permissions + 3] != 'x')) {
      continue;
    }
    if (Mapping mapping; parse_mapping(line, mapping)) {
      mappings.push_back(std::move(mapping));
    }
  }
  return mappings;
}

}  // namespace tracer::stack
