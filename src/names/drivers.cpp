#include "names/drivers.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "base/number_text.h"
#include "base/read_file.h"
#include "names/open_files.h"
#include "trace/task_snapshot.h"

namespace tracer::names {
namespace {

/// Appends a name. As in the names of modules, `-` and `_` are the same.
void append_word(TextBuffer& text, std::string_view word) {
  if (!word.empty() && word.find(' ') == std::string_view::npos) {
    text.append(text.size() == 0 ? "" : " ");
    std::for_each(word.begin(), word.end(), [&](char c) { text.append(c == '-' ? '_' : c); });
  }
}

/// Documentation/admin-guide/devices.txt of Linux. Terminals are those whose numbers have been the same ever since.
std::string_view class_of(const trace::DeviceNumber& device) {
  struct Majors {
    std::uint32_t first;
    std::uint32_t last;
    std::string_view name;
  };
  static constexpr std::array<Majors, 6> majors = {{{3, 5, "terminal"},
                                                    {136, 143, "terminal"},
                                                    {14, 14, "sound"},
                                                    {116, 116, "sound"},
                                                    {81, 81, "video"},
                                                    {90, 90, "flash"}}};
  const auto found = std::find_if(majors.begin(), majors.end(), [&](const Majors& m) {
    return !device.is_block && device.major >= m.first && device.major <= m.last;
  });
  return found != majors.end() ? found->name : std::string_view{};
}

/// Returns the last part of a link that sysfs has for a device; empty if there is none.
std::string linked_name(const trace::DeviceNumber& device, std::string_view what) {
  const std::string link = read_link(
      fmt::format("/sys/dev/{}/{}:{}/{}", device.is_block ? "block" : "char", device.major, device.minor, what));
  return link.substr(link.rfind('/') + 1);
}

constexpr std::size_t most_registered = 16384;  // bytes of a list in /proc

/// Returns the name of a number in lines `NUMBER NAME`, up to an empty one.
std::string name_in(std::string_view lines, std::uint32_t number) {
  while (!lines.empty() && lines.front() != '\n') {
    std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const auto end = std::min(line.find(' '), line.size());
    if (number_at<std::uint32_t>(line.substr(0, end)) == number) {
      return std::string(line.substr(std::min(end + 1, line.size())));
    }
  }
  return {};
}

/// Returns the name that /proc/devices has for a major number.
std::string registered_name(const trace::DeviceNumber& device) {
  const std::string text = read_file("/proc/devices", most_registered);
  std::string_view lines = text;
  const std::string_view head = device.is_block ? "Block devices:\n" : "Character devices:\n";
  lines.remove_prefix(std::min(lines.find(head), lines.size()));
  lines.remove_prefix(std::min(head.size(), lines.size()));
  return name_in(lines, device.major);
}

/// Returns the name that /proc/misc has for one of the drivers that share a major number.
std::string miscellaneous_name(const trace::DeviceNumber& device) {
  constexpr std::uint32_t misc_major = 10;
  if (device.is_block || device.major != misc_major) {
    return {};
  }
  return name_in(read_file("/proc/misc", most_registered), device.minor);
}

}  // namespace

void append_drivers(TextBuffer& text, const Task& task, std::int32_t fd) {
  // Without a record the thread is stopped, and what its descriptor stands for can be looked up.
  const auto recorded = task.snapshot != nullptr ? task.snapshot->file_kind(fd) : std::nullopt;
  const trace::FileKind kind = recorded ? *recorded : OpenFiles::kind(task.tid, fd);
  text.append(kind.drivers);
  if (kind.device) {
    append_word(text, linked_name(*kind.device, "device/driver"));
    append_word(text, linked_name(*kind.device, "subsystem"));
    append_word(text, registered_name(*kind.device));
    append_word(text, miscellaneous_name(*kind.device));
    append_word(text, class_of(*kind.device));
  } else if (!kind.system.empty()) {
    append_word(text, kind.system);
    append_word(text, "file");
  } else if (!kind.protocol.empty()) {
    std::string lower = kind.protocol;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    append_word(text, lower);
  }
}

}  // namespace tracer::names
