// A plan: calls to make, one after the other, with the memory that they point to. Written by make_plan, read by
// execute.c.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace tracer::probe {

// Memory for what arguments point to: pages at fixed addresses, each followed by one that is not there.
inline constexpr std::uint32_t page_size = 4096;
inline constexpr std::uint32_t slot_count = 16;
constexpr std::uint32_t slot_address(std::uint32_t slot) {
  return 0x20000000 + slot * 2 * page_size;
}

/// What fills all pages before the patches.
enum class Background : std::uint32_t { zeros, ones /* 0x11 */, ascending, all_bits };

/// Bytes to store before the call, or at its exit.
struct Patch {
  std::uint32_t address = 0;
  std::vector<std::uint8_t> bytes;
  bool at_exit = false;
};

/// One call.
struct Scene {
  std::uint32_t number = 0;
  std::array<std::uint64_t, 6> args{};
  std::int64_t result = 0;  ///< -4095 to -1: an error
  Background background = Background::zeros;
  std::vector<Patch> patches;
};

/// Appends the scene as execute.c reads it.
void write(std::FILE* out, Scene scene);

}  // namespace tracer::probe
