// What the recorder writes into the ring of its thread.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "arch/call_registers.h"
#include "capture/carry_out.h"
#include "inprocess/layout.h"
#include "inprocess/recorder/own_calls.h"
#include "inprocess/recorder/own_memory.h"

namespace tracer::inprocess::recorder {

inline const Tables& tables() {
  return *reinterpret_cast<const Tables*>(tables_address);
}

/// Has the lines of the cache that the next records go to come, which the tracer on its processor has read last.
inline void fetch_for_writing(const std::byte* ring) {
  constexpr std::size_t line = 64;
  constexpr std::size_t ahead = 4 * line;
  for (std::size_t i = 0; i < 3; ++i) {
    arch::fetch_for_writing(ring + ahead + i * line);
  }
}

/// A record that is being made in a thread's ring.
class Output final : public capture::Recorder {
 public:
  template <typename Front>
  Output(ThreadArea& thread, const Front& front)
      : thread_(thread), ring_(reinterpret_cast<std::byte*>(&thread) + offsetof(Area, ring)), end_(thread.written) {
    const std::size_t room = ring_size - end_ % ring_size;
    if (room < largest_record) {
      const RecordHead filler{static_cast<std::uint32_t>(room), record_filler, 0, 0};
      __builtin_memcpy(at(), &filler, std::min(room, sizeof filler));
      end_ += room;
    }
    start_ = end_;
    fetch_for_writing(at());
    __builtin_memcpy(at(), &front, sizeof front);
    end_ += sizeof front;
  }

  void memory(std::uint64_t address, std::span<const std::byte> bytes) override {
    if (!full()) {
      add(address, bytes, chunk_memory);
    }
  }
  void named(named_kind kind, std::uint32_t number, std::uint32_t) override {
    const auto descriptor = static_cast<std::int32_t>(number);
    if (kind == named_descriptor && (descriptor >= 0 || descriptor == current_directory)) {
      name_descriptor(descriptor);
    }
  }
  void netlink(std::uint32_t descriptor) override {
    const std::uint32_t domain = socket_option(descriptor, domain_option);
    if (domain == netlink_domain && !full()) {
      const std::uint64_t protocol = socket_option(descriptor, protocol_option);
      add(descriptor, std::as_bytes(std::span(&protocol, 1)), chunk_netlink);
    }
  }
  /// Only devices: what drivers other files have stays unknown.
  void file_kind(std::uint32_t descriptor) override {
    struct statx status;
    if (!full() && known_status(descriptor, statx_type, status) &&
        (S_ISCHR(status.stx_mode) || S_ISBLK(status.stx_mode))) {
      Device device{status.stx_rdev_major, status.stx_rdev_minor, S_ISBLK(status.stx_mode) ? 1U : 0U, 0};
      if (device.is_block == 0 && device.major == 5 && device.minor == 2) {  // /dev/ptmx
        device.terminal = terminal_of(descriptor);
      }
      add(descriptor, std::as_bytes(std::span(&device, 1)), chunk_device);
    }
  }
  [[nodiscard]] bool full() const override { return end_ - start_ > fullest_record; }

  /// What it takes to unwind the program's stack afterwards. False if the stack is larger than that.
  bool stack(const trace::Memory& memory, std::uint64_t number, std::size_t bytes) {
    const arch::StoredRegisters registers = arch::registers_at_call(thread_.program, number);
    if (!full()) {
      add(registers_address, std::as_bytes(std::span(&registers, 1)), chunk_memory);
    }
    const std::uint64_t used = end_ - start_;
    std::uint64_t room = std::min<std::uint64_t>(used < fullest_record ? fullest_record - used : 0, bytes);
    bool whole = false;
    for (const std::uint64_t end : thread_.stack_ends) {
      if (end > thread_.program.stack_pointer && end - thread_.program.stack_pointer <= room) {
        room = end - thread_.program.stack_pointer;
        whole = true;
      }
    }
    const std::size_t size = memory.read(RemoteAddr(thread_.program.stack_pointer), {at() + sizeof(Chunk), room});
    finish_chunk(thread_.program.stack_pointer, size, chunk_memory);
    // A signal's stack may be one that nobody knows of while it is used (SS_AUTODISARM), and end before `room` does.
    return whole && !is_on_signal_stack();
  }

  void command() {
    std::byte name[command_size];
    if (!full() && own_call(SYS_prctl, get_name, reinterpret_cast<std::uint64_t>(name), nullptr, nullptr, 0) == 0) {
      add(0, name, chunk_command);
    }
  }
  /// Whether some descriptor got no name, or less of one than the tracer would find.
  [[nodiscard]] bool lacks_names() const { return lacks_names_; }
  /// Whether the process can see what its descriptors stand for.
  [[nodiscard]] bool can_name() const {
    if (thread_.sees_links == 0) {
      thread_.sees_links = read_link("/proc/thread-self/cwd", at(), 1) != 0 ? 1 : 0;
    }
    return thread_.sees_links != 0;
  }

  /// Completes the record, which the tracer does not see before finish().
  std::uint64_t complete() {
    const auto size = static_cast<std::uint32_t>(end_ - start_);
    __builtin_memcpy(ring_ + start_ % ring_size, &size, sizeof size);
    return end_;
  }

 private:
  [[nodiscard]] std::byte* at() const { return ring_ + end_ % ring_size; }

  void name_descriptor(std::int32_t descriptor) {
    using namespace std::string_view_literals;
    constexpr std::string_view mark = " (deleted)"sv;
    std::byte* const text = at() + sizeof(Chunk);
    const auto fd = static_cast<std::uint32_t>(descriptor);
    std::size_t size = 0;
    if (!full()) {
      size = descriptor == current_directory ? read_current_directory(text, largest_piece)
                                             : read_link(LinkPath(fd).text(), text, largest_piece);
    }
    const std::string_view link(reinterpret_cast<const char*>(text), size);
    ChunkKind kind = chunk_link;
    // Turned off meanwhile, the process may have seen another root directory.
    bool known = size != 0 && size != largest_piece && __atomic_load_n(&thread_.off, __ATOMIC_ACQUIRE) == 0;
    if (known && descriptor != current_directory && link.ends_with(mark)) {
      struct statx status;
      text[size] = std::byte{0};  // there is room, as the link is shorter than what it was read into
      if (known_status(fd, statx_links, status) && status.stx_nlink == 0) {
        size -= mark.size();
        kind = chunk_deleted_link;
      } else {
        known = is_name_of(fd, reinterpret_cast<const char*>(text));
      }
    }
    lacks_names_ = lacks_names_ || !known || ((tables().names & names_details) != 0 && has_details(link));
    if (full()) {
      return;
    }
    finish_chunk(fd, known ? size : 0, kind);  // empty: not what it was before
    if (known && (tables().names & names_devices) != 0 && descriptor >= 0 && link.front() == '/') {
      file_kind(fd);
    }
  }

  /// Whether the stack goes on elsewhere, where a signal has come.
  [[nodiscard]] bool is_on_signal_stack() const {
    stack_t alternate{};
    return !known_signal_stack(alternate) ||
           thread_.program.stack_pointer - reinterpret_cast<std::uint64_t>(alternate.ss_sp) < alternate.ss_size;
  }

  static bool has_details(std::string_view link) {
    using namespace std::string_view_literals;  // there is no strlen()
    return link.starts_with("socket:["sv) || link == "anon_inode:[pidfd]"sv || link == "anon_inode:[eventfd]"sv ||
           link == "anon_inode:[signalfd]"sv;
  }

  /// Of /dev/ptmx: one more than the number of the terminal; 0 if the descriptor has none.
  static std::uint32_t terminal_of(std::uint32_t descriptor) {
    std::uint32_t number = 0;
    const bool got = own_call(SYS_ioctl, descriptor, terminal_request, &number, nullptr, 0) == 0;
    return got ? number + 1 : 0;
  }

  static std::uint32_t socket_option(std::uint32_t descriptor, std::uint64_t option) {
    std::uint32_t value = 0;
    std::uint32_t size = sizeof value;
    const bool got = own_call(SYS_getsockopt, descriptor, level_socket, reinterpret_cast<const void*>(option), &value,
                              reinterpret_cast<std::uint64_t>(&size)) == 0;
    return got ? value : 0;
  }

  void add(std::uint64_t address, std::span<const std::byte> bytes, ChunkKind kind) {
    __builtin_memcpy(at() + sizeof(Chunk), bytes.data(), bytes.size());
    finish_chunk(address, bytes.size(), kind);
  }

  /// Puts the front before so many bytes: member by member, as a copy would be read wider than it was just written.
  void finish_chunk(std::uint64_t address, std::size_t size, ChunkKind kind) {
    auto* const chunk = reinterpret_cast<Chunk*>(at());
    chunk->address = address;
    chunk->size = static_cast<std::uint32_t>(size);
    chunk->kind = kind;
    end_ += sizeof *chunk + (size + 7) / 8 * 8;
  }

  ThreadArea& thread_;
  std::byte* ring_;
  std::uint64_t end_;
  std::uint64_t start_ = 0;
  bool lacks_names_ = false;
};

/// Carries out a part of a plan over the memory of the process.
inline void capture_memory(ThreadArea& thread, std::span<const capture_operation> operations,
                           std::span<const std::uint64_t, most_arguments> arguments, std::int64_t result,
                           Output& output) {
  if (operations.empty()) {
    return;
  }
  capture::Slots slots;
  std::copy(arguments.begin(), arguments.end(), slots.begin());
  slots[slot_result] = static_cast<std::uint64_t>(result);
  slots[slot_stack] = thread.program.stack_pointer;
  const OwnMemory memory(thread);
  capture::carry_out(operations, slots, memory, output);
}

/// The tracer sees what was written up to there.
inline void commit(ThreadArea& thread, std::uint64_t end) {
  __atomic_store_n(&thread.written, end, __ATOMIC_RELEASE);
}

/// Whether the thread may record, and has room for so many records of the largest size; each may come after what is
/// left before the ring's end.
inline bool can_record(const ThreadArea& thread, std::uint64_t records) {
  const std::uint64_t used = thread.written - __atomic_load_n(&thread.read, __ATOMIC_ACQUIRE);
  return __atomic_load_n(&thread.off, __ATOMIC_RELAXED) == 0 && __atomic_load_n(&thread.held, __ATOMIC_RELAXED) == 0 &&
         used <= ring_size - 2 * records * largest_record;
}

}  // namespace tracer::inprocess::recorder
