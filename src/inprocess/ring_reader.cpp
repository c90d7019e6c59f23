#include "inprocess/ring_reader.h"

#include <algorithm>
#include <cstring>

#include "arch/call_site.h"
#include "capture/captured_stack.h"
#include "inprocess/recorded_memory.h"

namespace tracer::inprocess {
namespace {

/// Bytes of a ring whose room is given back at once: not for each record, as the thread looks at each call.
constexpr std::uint64_t released_together = ring_size / 16;

/// How far before its turn a record is on its way from the other processor's cache: that takes as long as it takes to
/// decode a few.
constexpr std::uint64_t prefetched_ahead = 1024;

std::size_t front_size(std::uint32_t kind) {
  switch (kind) {
    case record_enter:
      return sizeof(EnterRecord);
    case record_call:
      return sizeof(CallRecord);
    case record_return:
      return sizeof(ReturnRecord);
    default:
      return sizeof(ExitRecord);
  }
}

}  // namespace

void ThreadRing::look() {
  looked_from_ = position_;
  if (left_) {
    return;
  }
  end_ = __atomic_load_n(&area().written, __ATOMIC_ACQUIRE);
  if (end_ - position_ > ring_size) {
    give_up();
  }
}

void ThreadRing::give_up() {
  // Nobody but the program itself can have written this. Its calls stop from now on.
  area().off = 1;
  position_ = end_;
  damaged_ = true;
  left_ = true;
}

bool ThreadRing::next() {
  while (position_ < end_) {
    const std::size_t room =
        std::min({end_ - position_, ring_size - position_ % ring_size, std::uint64_t{largest_record}});
    if (room >= sizeof head_) {
      std::memcpy(&head_, at(position_), sizeof head_);
    } else {
      head_ = {static_cast<std::uint32_t>(room), record_filler, 0, 0};
    }
    size_ = head_.size;
    const bool is_function = head_.kind == record_call || head_.kind == record_return;
    const bool is_call = head_.kind == record_enter || head_.kind == record_leave || is_function;
    const bool is_whole_call = is_call && size_ % 8 == 0 && size_ >= front_size(head_.kind);
    const bool is_expected =
        head_.kind == record_filler || (is_whole_call && (is_function || (head_.kind == record_enter) != open_));
    if (size_ == 0 || size_ > room || !is_expected) {
      give_up();
      return false;
    }
    if (is_call) {
      return true;
    }
    position_ += size_;
  }
  return false;
}

void ThreadRing::report_function(TickClock& clock, ptrace::RecordedCalls& calls) {
  const std::byte* record = at(position_);
  const std::size_t front = front_size(head_.kind);
  const std::span<const std::byte> chunks(record + front, size_ - front);
  trace::FunctionRecorder::Hit hit;
  hit.tid = tid_;
  hit.time = clock.time_at(head_.ticks);
  hit.address = head_.instruction_pointer;
  hit.is_return = head_.kind == record_return;
  arch::Registers registers;
  if (hit.is_return) {
    ReturnRecord returned;
    std::memcpy(&returned, record, sizeof returned);
    hit.stack_pointer = returned.stack_pointer;
    registers = arch::registers_at_return(returned.results, returned.stack_pointer + sizeof(std::uint64_t));
    if (returned.has_error != 0) {
      hit.error = static_cast<int>(returned.error);
    }
  } else {
    CallRecord called;
    std::memcpy(&called, record, sizeof called);
    hit.stack_pointer = called.stack_pointer;
    registers = arch::registers_at_function(called.args, called.stack_pointer, head_.instruction_pointer);
  }
  hit.registers = registers.buffer();
  const RecordedMemory memory(tid_, chunks);
  hit.memory = &memory;
  position_ += size_;
  calls.on_recorded(hit);
}

void ThreadRing::report(TickClock& clock, ptrace::RecordedCalls& calls) {
  if (head_.kind == record_call || head_.kind == record_return) {
    report_function(clock, calls);
    return;
  }
  const std::byte* record = at(position_);
  const std::span<const std::byte> chunks(record + front_size(head_.kind), size_ - front_size(head_.kind));
  open_ = head_.kind == record_enter;
  trace::Event& event = open_ ? enter_ : exit_;
  event.time = clock.time_at(head_.ticks);
  position_ += size_;
  __builtin_prefetch(at(position_ + prefetched_ahead));
  __builtin_prefetch(at(position_ + prefetched_ahead + 64));
  if (const std::uint64_t start = position_ - size_; start - released_ > released_together) {
    released_ = start;
    __atomic_store_n(&area().read, start, __ATOMIC_RELEASE);  // this record is read yet
  }
  if (open_) {
    auto& enter = std::get<trace::SyscallEnter>(enter_.what);
    std::memcpy(&enter.number, record + offsetof(EnterRecord, number), sizeof enter.number);
    std::memcpy(enter.args.data(), record + offsetof(EnterRecord, args), sizeof enter.args);
    std::memcpy(&enter.stack_pointer, record + offsetof(EnterRecord, stack_pointer), sizeof enter.stack_pointer);
    enter.instruction_pointer = head_.instruction_pointer;
    entry_.assign(chunks.begin(), chunks.end());
    report(event, RecordedMemory(tid_, entry_), calls);
    return;
  }
  auto& exit = std::get<trace::SyscallExit>(exit_.what);
  std::memcpy(&exit.value, record + offsetof(ExitRecord, result), sizeof exit.value);
  exit.is_error = is_error(exit.value);
  exit.instruction_pointer = head_.instruction_pointer;
  report(event, RecordedMemory(tid_, chunks, entry_), calls);
}

void ThreadRing::report(trace::Event& event, const trace::Memory& memory, ptrace::RecordedCalls& calls) const {
  const capture::CapturedStack stack(memory);
  event.stack = &stack;
  calls.on_recorded(tid_, event, memory);
}

void ThreadRing::release() {
  __atomic_store_n(&area().read, position_, __ATOMIC_RELEASE);
  released_ = position_;
}

bool ThreadRing::take_back_entry() {
  if (open_) {
    return false;
  }
  area().written = std::max(position_, area().before_entry);
  return true;
}

std::uint64_t report_all(std::vector<ThreadRing*>& rings, TickClock& clock, ptrace::RecordedCalls& calls) {
  std::vector<ThreadRing*> ready;
  for (ThreadRing* ring : rings) {
    ring->look();
    if (ring->next()) {
      ready.push_back(ring);
    }
  }
  const auto report_damage = [&] {
    for (ThreadRing* ring : rings) {
      if (ring->take_damage()) {
        calls.on_damaged(ring->tid());
      }
    }
  };
  if (ready.empty()) {
    report_damage();
    return 0;
  }
  clock.look();
  const std::vector<ThreadRing*> touched = ready;
  while (!ready.empty()) {
    // Few threads have recorded something at a time, and the first of them mostly a lot.
    auto first = ready.begin();
    std::uint64_t earliest = ~std::uint64_t{0};
    std::uint64_t second = ~std::uint64_t{0};
    for (auto ring = ready.begin(); ring != ready.end(); ++ring) {
      const std::uint64_t ticks = (*ring)->ticks();
      if (ticks < earliest) {
        second = earliest;
        earliest = ticks;
        first = ring;
      } else {
        second = std::min(second, ticks);
      }
    }
    bool found = true;
    while (found && (*first)->ticks() <= second) {
      (*first)->report(clock, calls);
      found = (*first)->next();
    }
    if (!found) {
      ready.erase(first);
    }
  }
  std::uint64_t most = 0;
  for (ThreadRing* ring : touched) {
    ring->release();
    most = std::max(most, ring->reported());
  }
  report_damage();
  return most;
}

}  // namespace tracer::inprocess
