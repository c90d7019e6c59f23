#include "replay/crc32c.h"

#include <array>

namespace tracer::replay {
namespace {

using Table = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Table make_table() {
  constexpr std::uint32_t polynomial = 0x82f63b78;  // bits reversed
  Table table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (unsigned bit = 0; bit < 8; ++bit) {
      value = (value >> 1U) ^ ((value & 1U) != 0 ? polynomial : 0U);
    }
    table[0][i] = value;
  }
  for (std::size_t i = 0; i < 256; ++i) {
    for (std::size_t step = 1; step < table.size(); ++step) {
      const std::uint32_t before = table[step - 1][i];
      table[step][i] = (before >> 8U) ^ table[0][before & 0xffU];
    }
  }
  return table;
}

constexpr Table table = make_table();

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  std::uint32_t value = ~before;
  const auto byte = [&bytes](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(bytes[i])}; };
  while (bytes.size() >= 8) {
    value ^= byte(0) | byte(1) << 8U | byte(2) << 16U | byte(3) << 24U;
    value = table[7][value & 0xffU] ^ table[6][(value >> 8U) & 0xffU] ^ table[5][(value >> 16U) & 0xffU] ^
            table[4][value >> 24U] ^ table[3][byte(4)] ^ table[2][byte(5)] ^ table[1][byte(6)] ^ table[0][byte(7)];
    bytes.remove_prefix(8);
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value = (value >> 8U) ^ table[0][(value ^ byte(i)) & 0xffU];
  }
  return ~value;
}

}  // namespace tracer::replay
