// The recorder's code, as it is mapped into tracees.
#pragma once

#include <cstddef>
#include <span>

namespace tracer::inprocess {

/// Empty where none was built.
std::span<const std::byte> recorder_code();

}  // namespace tracer::inprocess
