// The BPF object files that the build has put into the program.
#pragma once

#include <cstddef>
#include <span>

namespace tracer::bpf {

std::span<const std::byte> counting_object();
std::span<const std::byte> function_records_object();
std::span<const std::byte> functions_object();
std::span<const std::byte> tracing_object();

}  // namespace tracer::bpf
