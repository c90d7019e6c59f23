#include "names/ring_entries.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

#include "base/number_text.h"
#include "proc/memory_map.h"
#include "proc/proc_text.h"

namespace tracer::names {
namespace {

// linux/io_uring.h: sizeof(struct io_uring_sqe), and with IORING_SETUP_SQE128; IORING_OFF_SQES.
constexpr std::uint64_t entry_size = 64;
constexpr std::uint64_t wide_entry_size = 128;
constexpr std::uint64_t offset_of_entries = 0x10000000;

std::optional<std::uint64_t> number_in(std::string_view text, int base = 10) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  if (base == 16 && text.substr(0, 2) == "0x") {
    text.remove_prefix(2);
  }
  return number_at<std::uint64_t>(text, base);
}

/// Returns the number of a line `LABEL:\t1` of fdinfo.
bool take(std::string_view line, std::string_view label, std::optional<std::uint64_t>& value, int base = 10) {
  if (line.substr(0, label.size()) != label) {
    return false;
  }
  value = number_in(line.substr(label.size()), base);
  return true;
}

/// The queue as fdinfo describes it.
struct Queue {
  std::uint64_t mask = 0;
  std::vector<std::uint64_t> slots;  ///< of the pending entries
  bool wide = false;                 ///< at least one entry has 128 bytes
};

std::optional<Queue> queue_of(std::int32_t tid, std::int32_t fd, std::uint64_t most) {
  std::ifstream info(proc::descriptor_path(tid, fd, "fdinfo"));
  std::optional<std::uint64_t> mask;
  std::optional<std::uint64_t> head;
  std::optional<std::uint64_t> waiting;
  std::string line;
  while (!waiting && std::getline(info, line)) {
    take(line, "SqMask:", mask, 16) || take(line, "SqHead:", head) || take(line, "SQEs:", waiting);
  }
  if (!mask || !head || !waiting) {
    return std::nullopt;
  }
  Queue queue;
  queue.mask = *mask;
  // The tracee writes head and tail; the kernel reads at most as many entries as the ring has.
  const std::uint64_t count = std::min({*waiting, most, *mask + 1});
  // `    3: opcode:NOP, fd:0, ...`, with 128 bytes `, e0:0x0` and so on at the end.
  while (queue.slots.size() < count && std::getline(info, line) && line.find(": opcode:") != std::string::npos) {
    const auto slot = number_in(line);
    if (!slot || *slot > *mask) {
      break;
    }
    queue.wide = queue.wide || line.find(", e0:0x") != std::string::npos;
    queue.slots.push_back(*slot);
  }
  // Without an index array (IORING_SETUP_NO_SQARRAY) the slots are used in order; older kernels do not list them then.
  for (std::uint64_t i = 0; queue.slots.size() < count && (i != 0 || queue.slots.empty()); ++i) {
    queue.slots.push_back((*head + i) & *mask);
  }
  return queue;
}

struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
};

/// Finds the mapping of the entries of a ring: `7f00-7f10 rw-s 10000000 00:10 8254817  anon_inode:[io_uring]`. Each
/// ring has an inode of its own.
std::optional<Mapping> mapping_of(std::int32_t tid, std::int32_t fd) {
  struct statx status;
  if (statx(AT_FDCWD, proc::descriptor_path(tid, fd).c_str(), AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_INO,
            &status) != 0) {
    return std::nullopt;
  }
  const auto device = ::makedev(status.stx_dev_major, status.stx_dev_minor);
  std::optional<Mapping> found;
  proc::for_each_range(proc::read_memory_map(tid), [&](const proc::MappedRange& range) {
    if (!found && range.file_offset == offset_of_entries && range.device == device && range.inode == status.stx_ino) {
      found = Mapping{range.start, range.end - range.start};
    }
  });
  return found;
}

}  // namespace

std::optional<std::span<const RemoteAddr>> RingEntries::waiting(std::int32_t tid, std::int32_t fd, std::uint64_t most) {
  entries_.clear();
  const auto queue = queue_of(tid, fd, most);
  if (!queue) {
    return std::nullopt;
  }
  if (queue->slots.empty()) {
    return entries_;
  }
  const auto mapping = mapping_of(tid, fd);
  if (!mapping) {
    return std::nullopt;
  }
  // If the kernel does not list the entries, only the size of the mapping shows how wide they are. If both widths take
  // the same number of pages, the usual width is assumed.
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t slots = queue->mask + 1;
  const bool has_room = mapping->size >= slots * wide_entry_size;
  const bool needs_none = mapping->size - std::min(mapping->size, slots * entry_size) < page;
  const std::uint64_t step = has_room && (queue->wide || !needs_none) ? wide_entry_size : entry_size;
  for (const std::uint64_t slot : queue->slots) {
    if ((slot + 1) * step > mapping->size) {
      break;
    }
    entries_.emplace_back(mapping->start + slot * step);
  }
  return entries_;
}

}  // namespace tracer::names
