// Making a stopped thread do a system call of ours.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>

#include "base/abi.h"
#include "base/result.h"
#include "ptrace/stopped_thread.h"

namespace tracer::functions {

/// Where the kernel's own code in the process has an instruction that makes a system call; 0: nowhere.
std::uint64_t find_call_instruction(const ptrace::Stopped& thread, Abi abi);

/// Whose seccomp filter a thread's calls pass.
enum class Filtered : std::uint8_t { by_nobody, by_us };

/// Has the thread make a system call, and puts its registers back. It must not be in a call of its own, whose end would
/// be taken for that of this one. `filtered`: as far as we know; it makes none if it has another filter besides. An
/// error if that did not work: EAGAIN if it has stopped for another reason, which is yet to be waited for.
Result<std::uint64_t> inject_call(const ptrace::Stopped& thread, Filtered filtered, std::uint64_t number,
                                  const std::array<std::uint64_t, 6>& arguments);

/// The same by the instruction at this address, whatever filters the process has set for itself.
Result<std::uint64_t> inject_call_at(std::uint64_t instruction, const ptrace::Stopped& thread, Filtered filtered,
                                     std::uint64_t number, const std::array<std::uint64_t, 6>& arguments);

}  // namespace tracer::functions
