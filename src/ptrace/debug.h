// -d: what the engine found, in strace's form where strace says the same.
#pragma once

#include <functional>
#include <string>

#include "ptrace/stopped_thread.h"

namespace tracer::ptrace {

/// Says what of the kernel works here. A child shows it, which ends with this.
void debug_kernel(const std::function<void(const std::string&)>& say, unsigned ptrace_options);
void debug_report(const std::function<void(const std::string&)>& say, const Report& report);

}  // namespace tracer::ptrace
