// The CRC-32C checksum (Castagnoli).
#pragma once

#include <cstdint>
#include <string_view>

namespace tracer::replay {

/// Returns the checksum of what had the checksum `before`, and `bytes` behind it.
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

}  // namespace tracer::replay
