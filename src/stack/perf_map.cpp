#include "stack/perf_map.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/printable.h"
#include "base/read_file.h"
#include "debuginfo/tracee_file.h"
#include "proc/proc_text.h"

namespace tracer::stack {

namespace {

constexpr std::int64_t max_file_size = 64 << 20;
constexpr std::size_t max_name_size = 1024;

std::optional<std::uint64_t> take_hex(std::string_view& line) {
  if (line.starts_with("0x")) {
    line.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  const auto length = static_cast<std::size_t>(end - line.data());
  if (error != std::errc{} || length >= line.size() || line[length] != ' ') {
    return std::nullopt;
  }
  line.remove_prefix(length + 1);
  return value;
}

/// Returns the process ID in the process's own PID namespace, which is the one in the name of the file.
std::string inner_pid(pid_t tid) {
  const std::string status = read_file(proc::proc_path(tid, "status"));
  const auto at = status.find("\nNStgid:");
  const auto end = at == std::string::npos ? at : status.find('\n', at + 1);
  if (end == std::string::npos) {
    return std::to_string(tid);
  }
  return status.substr(status.find_last_of(" \t:", end - 1) + 1, end - status.find_last_of(" \t:", end - 1) - 1);
}

}  // namespace

std::vector<PerfMap::Function> parse_perf_map(std::string_view text) {
  std::vector<PerfMap::Function> functions;
  while (!text.empty()) {
    const auto length = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    const auto start = take_hex(line);
    const auto size = start ? take_hex(line) : std::nullopt;
    if (size && !line.empty()) {
      functions.push_back({*start, *size, printable(line.substr(0, max_name_size))});
    }
  }
  std::stable_sort(functions.begin(), functions.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  return functions;
}

const PerfMap::Function* PerfMap::look_up(std::uint64_t address) const {
  const auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                      [](std::uint64_t value, const Function& each) { return value < each.start; });
  if (after == functions_.begin()) {
    return nullptr;
  }
  const Function& function = *std::prev(after);
  return address - function.start < function.size ? &function : nullptr;
}

const PerfMap::Function* PerfMap::find(pid_t tid, std::uint64_t address) {
  if (const Function* function = look_up(address)) {
    return function;
  }
  read(tid);
  return look_up(address);
}

void PerfMap::read(pid_t tid) {
  const std::string path = "/tmp/perf-" + inner_pid(tid) + ".map";
  const debuginfo::TraceeFile file = debuginfo::open_in_tracee(tid, path);
  if (!file.descriptor.valid() || file.status.st_size > max_file_size || file.status.st_size == size_) {
    return;
  }
  std::string text(static_cast<std::size_t>(file.status.st_size), '\0');
  const ssize_t count = ::pread(file.descriptor.get(), text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  functions_ = parse_perf_map(text);
  size_ = file.status.st_size;
  path_ = path;
}

}  // namespace tracer::stack
