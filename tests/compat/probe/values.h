// Which values are worth trying at a place.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "scene_builder.h"
#include "spec/spec.h"

namespace tracer::probe {

/// Results of a call: nothing, counts, an address, errors of several kinds, restarts.
inline constexpr std::array<std::int64_t, 9> interesting_results = {0, 1, 4, 64, 0x20000000, -1, -14, -38, -514};

/// `sweep`: all small numbers too, for a set that is met for the first time.
std::vector<std::uint64_t> interesting_values(const spec::Tables& tables, Abi abi, const Leaf& leaf, bool sweep);

}  // namespace tracer::probe
