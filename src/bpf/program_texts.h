// The texts of an execve that its entry could not read. Private to this directory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tracer::bpf {

/// Chunks of memory (as behind an entry's front) that `entry`, the record of an execve, lacks: path and arguments, as
/// `exec`, the record of its success, has them. Empty where that has none. An array of arguments has to be in `entry`
/// itself; the first argument of a script is in no new program.
[[nodiscard]] std::vector<std::byte> texts_of_program(std::span<const std::byte> entry,
                                                      std::span<const std::byte> exec);

}  // namespace tracer::bpf
