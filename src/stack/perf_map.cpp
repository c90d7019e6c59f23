#include "stack/perf_map.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/number_text.h"
#include "base/printable.h"
#include "base/read_file.h"
#include "proc/proc_files.h"
#include "proc/proc_text.h"
#include "proc/tracee_file.h"

namespace tracer::stack {

namespace {

constexpr std::int64_t max_file_size = 64 << 20;
constexpr std::int64_t max_read = 256 << 20;  // bytes for a process, which can put another file there at any time
constexpr std::size_t max_name_size = 1024;
constexpr std::size_t max_names_size = 64 << 20;  // escaped
constexpr std::size_t max_functions = 2'000'000;
constexpr std::size_t piece_size = 8 << 20;  // bytes that are read at once

/// Whether the file is of the process's user, or root's: in /tmp, everybody can make one of that name.
bool is_trusted(pid_t tid, const struct ::stat& status) {
  const std::string users = proc::status_field(tid, "Uid");  // real, effective, and more
  const std::string_view effective = std::string_view(users).substr(std::min(users.find('\t') + 1, users.size()));
  return status.st_uid == 0 || number_at<uid_t>(effective) == status.st_uid;
}

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

std::size_t PerfMap::add(std::string_view text) {
  const auto old = static_cast<std::ptrdiff_t>(entries_.size());
  std::size_t done = 0;
  for (std::size_t end = 0; (end = text.find('\n', done)) != std::string_view::npos; done = end + 1) {
    std::string_view line = text.substr(done, end - done);
    const auto start = take_hex(line);
    const auto size = start ? take_hex(line) : std::nullopt;
    if (!size || line.empty() || entries_.size() >= max_functions || names_.size() >= max_names_size) {
      continue;
    }
    const std::string name = printable(line.substr(0, max_name_size));
    entries_.push_back(
        {*start, *size, static_cast<std::uint32_t>(names_.size()), static_cast<std::uint32_t>(name.size())});
    names_ += name;
  }
  const auto by_start = [](const Entry& a, const Entry& b) { return a.start < b.start; };
  std::stable_sort(entries_.begin() + old, entries_.end(), by_start);
  std::inplace_merge(entries_.begin(), entries_.begin() + old, entries_.end(), by_start);
  return done;
}

std::optional<PerfMap::Function> PerfMap::look_up(std::uint64_t address) const {
  const auto after = std::upper_bound(entries_.begin(), entries_.end(), address,
                                      [](std::uint64_t value, const Entry& each) { return value < each.start; });
  if (after == entries_.begin()) {
    return std::nullopt;
  }
  const Entry& entry = *std::prev(after);
  const Function function{std::string_view(names_).substr(entry.name, entry.name_length), entry.start};
  return address - entry.start < entry.size ? std::optional(function) : std::nullopt;
}

std::optional<PerfMap::Function> PerfMap::find(pid_t tid, std::uint64_t address) {
  if (const auto function = look_up(address)) {
    return function;
  }
  read(tid);
  return look_up(address);
}

void PerfMap::read(pid_t tid) {
  std::string path = "/tmp/perf-" + inner_pid(tid) + ".map";
  const proc::TraceeFile file = proc::open_in_tracee(tid, path);
  if (!file.descriptor.valid() || !is_trusted(tid, file.status)) {
    return;
  }
  if (file.status.st_ino != inode_ || file.status.st_size < done_) {
    entries_.clear();
    names_.clear();
    inode_ = file.status.st_ino;
    done_ = 0;
  }
  path_ = std::move(path);
  std::string piece;
  while (done_ < std::min<std::int64_t>(file.status.st_size, max_file_size) && read_ < max_read) {
    piece.resize(piece_size);
    const ssize_t count = ::pread(file.descriptor.get(), piece.data(), piece.size(), done_);
    piece.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    read_ += static_cast<std::int64_t>(piece.size());
    const std::size_t added = add(piece);
    done_ += static_cast<std::int64_t>(added == 0 && piece.size() == piece_size ? piece_size : added);
    if (added == 0 && piece.size() < piece_size) {
      return;  // the program is writing this line
    }
  }
}

}  // namespace tracer::stack
