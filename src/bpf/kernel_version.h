// Which Linux runs, where that alone decides how BPF programs run.
#pragma once

#include <utility>

namespace tracer::bpf {

/// Major and minor number of the kernel's version; zeros if it has none that can be read.
std::pair<unsigned long, unsigned long> kernel_version();

}  // namespace tracer::bpf
