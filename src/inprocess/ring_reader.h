// Reads what threads have recorded in their rings, which they may write nonsense into, and makes events of it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "inprocess/layout.h"
#include "inprocess/tick_clock.h"
#include "ptrace/call_recorder.h"

namespace tracer::inprocess {

/// The ring of one thread.
class ThreadRing {
 public:
  ThreadRing(pid_t tid, Area& area) : tid_(tid), area_(&area) {
    enter_.what = trace::SyscallEnter{};
    exit_.what = trace::SyscallExit{};
  }

  [[nodiscard]] pid_t tid() const { return tid_; }
  [[nodiscard]] ThreadArea& area() const { return area_->thread; }
  [[nodiscard]] Area& whole_area() const { return *area_; }
  /// Whether an entry was reported whose exit was not.
  [[nodiscard]] bool has_open_call() const { return open_; }
  /// Its exit is reported otherwise.
  void close_call() { open_ = false; }

  /// Looks how far the thread has come.
  void look();
  /// Finds the next record; false: there is none up to there.
  [[nodiscard]] bool next();
  /// When the record was made that next() has found.
  [[nodiscard]] std::uint64_t ticks() const { return head_.ticks; }
  /// Reports the record that next() has found.
  void report(TickClock& clock, ptrace::RecordedCalls& calls);
  /// Gives the room of what was reported back to the thread.
  void release();
  /// How many bytes were reported since look().
  [[nodiscard]] std::uint64_t reported() const { return position_ - looked_from_; }
  /// Whether there was something that no recorder writes. True once.
  bool take_damage() { return std::exchange(damaged_, false); }
  /// Takes back the entry of a stopped thread that has not made its call yet. False if it was reported already.
  bool take_back_entry();

 private:
  [[nodiscard]] const std::byte* at(std::uint64_t position) const { return area_->ring + position % ring_size; }
  void report_function(TickClock& clock, ptrace::RecordedCalls& calls);
  void report(trace::Event& event, const trace::Memory& memory, ptrace::RecordedCalls& calls) const;
  void give_up();

  pid_t tid_;
  Area* area_;
  std::uint64_t position_ = 0;     ///< as ThreadArea::written
  std::uint64_t end_ = 0;          ///< seen by look()
  std::uint64_t looked_from_ = 0;  ///< position of the last look()
  std::uint64_t released_ = 0;     ///< what release() has given back
  std::uint32_t size_ = 0;         ///< of the record that next() has found
  RecordHead head_{};
  // The last ones. To make one for each record is slow enough to see.
  trace::Event enter_;
  trace::Event exit_;
  bool open_ = false;
  bool damaged_ = false;
  bool left_ = false;             ///< for good, whatever the program makes of ThreadArea::off
  std::vector<std::byte> entry_;  ///< chunks of the last entry
};

/// Reports all that these threads have recorded until now, in the order of time. Returns how many bytes that was in the
/// ring that had the most.
std::uint64_t report_all(std::vector<ThreadRing*>& rings, TickClock& clock, ptrace::RecordedCalls& calls);

}  // namespace tracer::inprocess
