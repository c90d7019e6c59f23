// Keeps the tracer on the CPU of the thread that it serves.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstdint>

namespace tracer {

/// A stop whose tracer runs on another CPU costs a wake-up across CPUs, ten times a switch on one. While nearly all
/// stops come from one thread, the tracer therefore pins itself (never the tracee) to that thread's CPU.
class CpuFollower {
 public:
  CpuFollower();
  ~CpuFollower();
  CpuFollower(const CpuFollower&) = delete;
  CpuFollower& operator=(const CpuFollower&) = delete;

  /// Called at every stop.
  void served(pid_t tid) {
    if (tid == busiest_) {
      ++count_;
    } else {
      --count_;
      if (count_ <= 0) {
        busiest_ = tid;
        count_ = 1;
      }
    }
    if (--until_check_ == 0) {
      check();
    }
  }

  /// Anywhere the caller may run, as before.
  void release();

 private:
  void check();

  cpu_set_t allowed_;
  bool usable_ = false;
  int pinned_to_ = -1;
  pid_t busiest_ = 0;
  int count_ = 0;
  unsigned until_check_ = first_check;
  unsigned interval_ = first_check;
  unsigned rest_ = first_rest;  ///< stops until it is tried again after the thread got away

  static constexpr unsigned first_check = 32;
  static constexpr unsigned longest_interval = 512;
  static constexpr unsigned first_rest = 1024;
  static constexpr unsigned longest_rest = 65536;
};

}  // namespace tracer
