// What stands at the front of a record. Private to this directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "bpf/tracing.h"

namespace tracer::bpf {

/// An enter_record without its arguments: a record has as many as its head says.
struct enter_front {
  trace_record head;
  std::uint64_t instruction_pointer;
  std::uint64_t stack_pointer;
};
static_assert(sizeof(enter_front) == offsetof(enter_record, args));

/// The front of a record; zeros where it is shorter.
template <typename T = trace_record>
[[nodiscard]] T front_of(std::span<const std::byte> record) {
  T front{};
  if (record.size() >= sizeof front) {
    std::memcpy(&front, record.data(), sizeof front);  // of a length that the compiler knows
  } else if (!record.empty()) {
    std::memcpy(&front, record.data(), record.size());
  }
  return front;
}

/// What an exit's record says for its entry, which could not read it; nothing if that is not so.
[[nodiscard]] inline std::span<const std::byte> late_chunks(std::span<const std::byte> exit) {
  const std::uint64_t late = front_of<exit_record>(exit).late;
  return late >= sizeof(exit_record) && late <= exit.size() ? exit.subspan(late) : std::span<const std::byte>{};
}

}  // namespace tracer::bpf
