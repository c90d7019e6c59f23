// What the recorder, which runs inside the tracees, and the tracer share: where things are, and how records look.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "arch/call_registers.h"
#include "capture/plan.h"

namespace tracer::inprocess {

// One place for all processes, as the seccomp filter names it: far below the mappings that the kernel places from the
// stack on downwards, far above a program's own, and where no sanitizer has its shadows.
inline constexpr std::uint64_t recorder_address = 0x7ea0'0000'0000;
inline constexpr std::uint64_t page_size = 4096;
/// Calls from this page need no stop.
inline constexpr std::uint64_t free_page_size = 4096;
inline constexpr std::uint64_t tables_address = recorder_address + 0x0010'0000;
inline constexpr std::uint64_t owners_address = recorder_address + 0x0040'0000;
/// Return addresses that are replaced: see Return. Copied by fork.
inline constexpr std::uint64_t returns_address = recorder_address + 0x0050'0000;
inline constexpr std::uint64_t areas_address = recorder_address + 0x0080'0000;
/// Behind it, the areas.
inline constexpr std::size_t commons_size = 4096;

inline constexpr std::size_t ring_size = 1 << 20;
inline constexpr std::size_t recorder_stack_size = 60 * 1024;
/// Room for the largest record; no new chunk begins beyond `fullest_record`.
inline constexpr std::size_t largest_record = 48 * 1024;
inline constexpr std::size_t fullest_record = largest_record - 2 * largest_text;

/// What a thread is doing in the recorder, from Symbols::entered on.
enum Phase : std::uint32_t {
  phase_entering = 1,  ///< nothing is recorded yet
  phase_calling = 2,   ///< the entry is recorded, or about to be; the call is made, or about to be
  phase_leaving = 3,   ///< the call is made; the exit is not recorded yet, or just has been
  // A function is called, or returns: that is recorded where ThreadArea::written is not `before_entry`.
  phase_function_called = 4,
  phase_function_returned = 5,
};

/// What becomes of a call that the recorder makes.
enum Making : std::uint64_t { making_recorded, making_silent, making_counted };

/// How often a thread has made a call, and how many ticks it took. The shortest means nothing where there is none.
struct Counter {
  std::uint64_t calls;
  std::uint64_t errors;
  std::uint64_t total;
  std::uint64_t shortest;
  std::uint64_t longest;
};
constexpr Counter with_call(const Counter& counter, bool failed, std::uint64_t ticks) {
  return {counter.calls + 1, counter.errors + (failed ? 1 : 0), counter.total + ticks,
          counter.calls == 0 || ticks < counter.shortest ? ticks : counter.shortest,
          ticks > counter.longest ? ticks : counter.longest};
}

constexpr bool is_error(std::int64_t result) {
  constexpr std::int64_t lowest = -4095;
  return result < 0 && result >= lowest;
}

/// A thread's own part, as the recorder's assembly knows it.
struct ThreadArea {
  std::uint64_t result;  ///< the number of the call, and then its result
  arch::CallRegisters program;
  std::uint64_t target;        ///< where the program goes on: at the call instruction, or behind it
  std::uint32_t phase;         ///< a Phase
  std::uint32_t sees_links;    ///< /proc has been seen
  std::uint64_t written;       ///< bytes, ever
  std::uint64_t number;        ///< of the call that is being made
  std::uint64_t before_entry;  ///< `written` before the last entry
  // Of a function that is called or returns; `program.stack_pointer` is where its return address is.
  arch::FunctionScratch scratch;
  std::uint64_t function;    ///< address of its FunctionInfo
  std::uint64_t original;    ///< its return address; 0: not known yet
  std::uint64_t refuses;     ///< a call found no room for its return, or another one before
  std::uint64_t making;      ///< a Making, of the same call
  std::uint64_t started;     ///< ticks at the entry of a counted call
  std::uint64_t is_counted;  ///< 1: `counted` is what the counter has to be, as the call is made
  Counter counted;
  std::uint64_t has_counted[numbers_per_abi / 64];  ///< calls, a bit for each
  std::uint64_t readable[64];  ///< pages that could be read, and Commons::generation then: see remembered_page()
  // What the tracer writes.
  alignas(64) std::uint64_t read;  ///< bytes, ever
  std::uint32_t off;               ///< all calls go the slow way, for good
  std::uint32_t held;              ///< the same, as long as each call of the thread stops anyway
  std::uint64_t stack_ends[2];     ///< no frame is beyond, if the stack pointer is near below
};

inline constexpr std::size_t area_head_size = 4096;
struct Area {
  union {
    ThreadArea thread;
    std::byte head[area_head_size];
  };
  std::byte stack[recorder_stack_size];
  std::byte ring[ring_size];
  Counter counters[numbers_per_abi];
};
inline constexpr std::size_t most_areas = 128;
inline constexpr std::size_t areas_size = commons_size + most_areas * sizeof(Area);
constexpr std::uint64_t area_address(std::size_t index) {
  return areas_address + commons_size + index * sizeof(Area);
}

/// What the tracer reports to all threads of a process.
struct Commons {
  /// Changes when mappings may have gone. 0: nobody may remember which pages can be read.
  std::uint32_t generation;
  /// Whether calls from elsewhere raise SIGSYS in the threads that are dispatched: SYSCALL_DISPATCH_FILTER_BLOCK and
  /// _ALLOW (linux/prctl.h).
  std::uint8_t selector;
};
inline constexpr std::uint64_t selector_address = areas_address + offsetof(Commons, selector);
inline constexpr std::uint32_t most_generations = 1U << 28U;
/// Differs from 0 and for each page and generation.
constexpr std::uint64_t remembered_page(std::uint64_t page, std::uint32_t generation) {
  constexpr unsigned unused_upper_bits = 16;
  return (page << unused_upper_bits) | generation;
}
/// All that is ours in a process.
inline constexpr std::uint64_t whole_size = areas_address + areas_size - recorder_address;

constexpr bool is_in_recorder(std::uint64_t address) {
  return address >= recorder_address && address < recorder_address + whole_size;
}

/// Whose area is whose: threads know themselves by the address of their thread-local data. Wiped by fork.
struct Owner {
  std::uint64_t thread_pointer;
  std::uint64_t area;
};
inline constexpr std::size_t owners_per_bucket = 4;
inline constexpr std::size_t buckets = 256;
struct Owners {
  Owner of[buckets][owners_per_bucket];
};
constexpr std::size_t bucket_of(std::uint64_t thread_pointer) {
  return (thread_pointer >> 12) % buckets;  // as the recorder's entry has it
}

/// What to record of descriptors and threads beside what the plans name.
enum NamesWanted : std::uint32_t {
  names_details = 1U << 0U,   ///< more of sockets, pidfds, eventfds and signalfds, so that their calls stop
  names_devices = 1U << 1U,   ///< the numbers of devices
  names_commands = 1U << 2U,  ///< the command name of the thread
};

/// A call that is not made inside if this argument has one of these bits.
struct StopCondition {
  std::uint32_t number;
  std::uint32_t argument;
  std::uint64_t bits;

  /// Whether this is about a call of that number and its arguments.
  [[nodiscard]] constexpr bool is_met(std::uint64_t called, std::span<const std::uint64_t> arguments) const {
    return number == called && (arguments[argument] & bits) != 0;
  }
};
inline constexpr std::size_t most_stop_conditions = 4;

/// What to record.
struct Tables {
  std::uint32_t first_slot;  ///< of the ABI, in form_plan::slot
  std::uint32_t form_mask;
  std::uint32_t operation_count;
  std::uint32_t names;        ///< bits of NamesWanted
  std::uint32_t stopped;      ///< what calls stop for that name it: a bit for each named_kind
  std::uint32_t stack_bytes;  ///< the registers and a stack of so many bytes at most are copied; 0: nothing
  std::uint32_t times;        ///< counted calls are timed
  std::uint32_t padding;
  std::uint64_t recorded[numbers_per_abi / 64];     ///< calls that are made inside and recorded, a bit for each
  std::uint64_t unrecorded[numbers_per_abi / 64];   ///< calls that are made inside and are not wanted
  std::uint64_t counted[numbers_per_abi / 64];      ///< calls that are made inside and counted
  std::uint64_t conditional[numbers_per_abi / 64];  ///< those of these that have conditions
  StopCondition conditions[most_stop_conditions];   ///< bits 0: none
  capture_plan by_number[numbers_per_abi];
  // capture_operation[operation_count], form_plan[form_mask + 1] follow.
};

enum RecordKind : std::uint32_t { record_filler, record_enter, record_leave, record_call, record_return };

struct RecordHead {
  std::uint32_t size;  ///< of the whole, a multiple of eight
  std::uint32_t kind;
  std::uint64_t ticks;  ///< by arch::clock_ticks()
  std::uint64_t instruction_pointer;
};

struct EnterRecord {
  RecordHead head;
  std::uint64_t number;
  std::uint64_t args[6];
  std::uint64_t stack_pointer;
};

struct ExitRecord {
  RecordHead head;
  std::int64_t result;
};

/// A function is called, by the jump at the instruction pointer.
struct CallRecord {
  RecordHead head;
  std::uint64_t stack_pointer;  ///< the return address is there
  std::uint64_t args[6];
};
/// The call that was made with this stack pointer returns.
struct ReturnRecord {
  RecordHead head;
  std::uint64_t stack_pointer;
  std::uint64_t results[2];
  std::int64_t error;       ///< errno
  std::uint64_t has_error;  ///< 1: it is known
};

/// What the recorder knows of a function, behind the stub that leads to it.
struct FunctionInfo {
  std::uint64_t place;        ///< address of the jump that the stub has taken the place of
  std::uint64_t slot;         ///< where the address is that it goes to
  std::int64_t errno_offset;  ///< of errno, from the thread pointer
  std::uint64_t errno_word;   ///< the address of a word that is added to it; 0: none
  std::uint32_t has_errno;
  std::uint8_t entry_count;
  std::uint8_t exit_count;
  std::uint8_t word_count;
  std::uint8_t padding;
  std::uint8_t words[8];  ///< which words that can hold arguments the plan's slots hold: registers, then the stack
  // capture_operation[entry_count + exit_count] follow.
};
/// The stub's trap instruction, by which the tracer learns of a call that the recorder does not take, from that.
inline constexpr std::uint64_t trap_before_info = 17;
inline constexpr std::size_t words_of_function = 12;  ///< six registers, and as many on the stack

/// A return address that the recorder has replaced by Symbols::function_return, by where it was. If that is lost, as
/// the stack was unwound, the entry stays until there is another one for the same place.
struct Return {
  std::uint64_t place;  ///< 0: none
  std::uint64_t original;
  std::uint64_t function;  ///< address of the FunctionInfo
  std::uint64_t args[6];   ///< what the first slots of the plan held
  std::uint64_t padding;
};
inline constexpr std::size_t returns_per_bucket = 4;
inline constexpr std::size_t return_buckets = 4096;
struct Returns {
  Return of[return_buckets][returns_per_bucket];
};
static_assert(returns_address + sizeof(Returns) <= areas_address);
constexpr std::size_t return_bucket(std::uint64_t place) {
  constexpr unsigned word = 3;
  constexpr unsigned between_frames = 12;
  constexpr unsigned between_stacks = 21;
  return ((place >> word) ^ (place >> between_frames) ^ (place >> between_stacks)) % return_buckets;
}

/// Behind these: memory, or what is known of a descriptor (or AT_FDCWD), which stands for the address.
enum ChunkKind : std::uint32_t {
  chunk_memory,
  chunk_netlink,       ///< the protocol of a netlink socket
  chunk_device,        ///< a Device
  chunk_link,          ///< the text of its link in /proc
  chunk_deleted_link,  ///< the same without ` (deleted)`: the file has no name any more
  chunk_command,       ///< the command name of the thread, whatever the address
};
struct Device {
  std::uint32_t major;
  std::uint32_t minor;
  std::uint32_t is_block;
  std::uint32_t terminal;  ///< of /dev/ptmx: one more than the number of its terminal; 0: none is known
};
inline constexpr std::size_t command_size = 16;  // TASK_COMM_LEN
struct Chunk {
  std::uint64_t address;
  std::uint32_t size;  ///< bytes follow, filled up to eight
  std::uint32_t kind;
};

/// Addresses in the recorder's code, at `recorder_address + symbols_offset`.
struct Symbols {
  std::uint64_t entry;
  std::uint64_t entered;  ///< the area has the registers, and the phase
  std::uint64_t call;     ///< the call instruction of the recorded call
  std::uint64_t behind_call;
  std::uint64_t noted;  ///< the phase says that the call is made
  std::uint64_t copy;   ///< from here on instructions may fault
  std::uint64_t behind_copy;
  std::uint64_t code_end;
  std::uint64_t function_entry;   ///< stubs lead functions there
  std::uint64_t function_return;  ///< and these return to there
  arch::EntryLabels labels;
  arch::FunctionLabels function_labels;
};
inline constexpr std::size_t symbols_offset = 64;
/// At the start of the code: a call instruction that the tracer may use, and its size.
inline constexpr std::size_t call_gadget_offset = 0;
inline constexpr std::uint64_t call_gadget = recorder_address + call_gadget_offset;
/// A text, for memfd_create.
inline constexpr std::size_t name_offset = 16;

}  // namespace tracer::inprocess
