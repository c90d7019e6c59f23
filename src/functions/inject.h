// Making a stopped thread do a system call of ours.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>

#include "base/result.h"
#include "ptrace/stopped_thread.h"

namespace tracer::functions {

/// Has the thread make a system call, and puts its registers back. It must not be in a call of its own, whose end would
/// be taken for that of this one. An error if that did not work: EAGAIN if it has stopped for another reason, which is
/// yet to be waited for.
Result<std::uint64_t> inject_call(const ptrace::Stopped& thread, pid_t pid, std::uint64_t number,
                                  const std::array<std::uint64_t, 6>& arguments);

}  // namespace tracer::functions
