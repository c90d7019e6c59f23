// The calls that carry data, and how they do.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/memory.h"

namespace tracer::pipeline {

struct DataCall {
  /// How a call passes its data. A buffer is always the second argument, and its length the third.
  enum class Carrier : std::uint8_t { buffer, vector, message, messages };
  std::string_view name;
  Carrier carrier = Carrier::buffer;
  bool reads = false;  ///< the call receives the data; else it sends it
};

/// Returns null if the call carries none.
[[nodiscard]] const DataCall* find_data_call(std::string_view name);

/// Reads a number of up to 8 bytes, as of struct iovec and struct msghdr.
[[nodiscard]] std::optional<std::uint64_t> read_number(const trace::Memory& memory, RemoteAddr address, unsigned size);

}  // namespace tracer::pipeline
