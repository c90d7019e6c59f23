// Making a stopped thread do system calls of ours, by a call instruction that our seccomp filter lets pass.
#pragma once

#include <array>
#include <cstdint>

#include "arch/arch.h"
#include "base/result.h"
#include "ptrace/stopped_thread.h"

namespace tracer::inprocess {

/// A thread, at the exit of a call, that makes calls of ours until its registers are put back.
class Injector {
 public:
  using Arguments = std::array<std::uint64_t, 6>;

  /// Reads the registers.
  explicit Injector(const ptrace::Stopped& thread);
  /// Puts them back.
  ~Injector();
  Injector(const Injector&) = delete;
  Injector& operator=(const Injector&) = delete;

  /// The registers; an error if the thread is gone.
  [[nodiscard]] const Result<arch::Registers>& registers() const { return saved_; }
  /// Makes a call by the call instruction at `instruction`. An error with its number if the call fails; EAGAIN if the
  /// thread has stopped for another reason, which is yet to be waited for.
  Result<std::uint64_t> call(std::uint64_t instruction, std::uint64_t number, const Arguments& arguments);

 private:
  const ptrace::Stopped& thread_;
  Result<arch::Registers> saved_;
  bool changed_ = false;
};

}  // namespace tracer::inprocess
