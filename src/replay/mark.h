// The frames of a trace file. It has the seekable format of zstd: frames that `zstd -d` unpacks, and skippable ones
// that it passes over. Before each block stands a mark of 64 bytes, a skippable frame that says what is in the block;
// at the end stands the seek table.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::replay {

inline constexpr std::size_t mark_size = 64;
/// Of a block before it is packed, as far as single events leave it so small.
inline constexpr std::size_t block_size = std::size_t{256} << 10U;
/// What no block of ours reaches: more is a damaged file.
inline constexpr std::size_t most_block_size = std::size_t{64} << 20U;

/// What a mark says of the block behind it.
struct Mark {
  std::uint32_t checksum = 0;     ///< CRC-32C of the rest of the mark and of the packed block
  std::uint32_t packed_size = 0;  ///< of the block, in bytes
  std::uint32_t sequence = 0;     ///< 0: the head
  std::uint32_t events = 0;
  std::chrono::nanoseconds first{};  ///< CLOCK_REALTIME of its first event
  std::chrono::nanoseconds last{};   ///< of the last one
  std::uint64_t calls = 0;           ///< Bloom word, see bloom_bits()
  /// How long the events are that a block starts with, unpacked; the facts follow. 0: the head, which has no events.
  std::uint32_t events_size = 0;
  std::uint64_t lost = 0;  ///< how many events were lost from the start of the recording to the end of the block
};

/// The bits that a call sets in the Bloom word of its block.
[[nodiscard]] constexpr std::uint64_t bloom_bits(std::uint64_t number, std::size_t abi) {
  const std::uint64_t hash = (number * 8 + abi + 1) * 0x9e3779b97f4a7c15U;
  return std::uint64_t{1} << (hash >> 58U) | std::uint64_t{1} << ((hash >> 52U) & 63U);
}

/// Returns whether a block may have the call, or one of the calls, whose bits these are.
[[nodiscard]] constexpr bool may_have(const Mark& mark, std::uint64_t bits) {
  return (mark.calls & bits) == bits;
}

/// Returns the bytes of a mark, with the checksum that belongs to it and the packed block.
[[nodiscard]] std::array<char, mark_size> encode(const Mark& mark, std::string_view packed);
/// Returns what the bytes say; nothing if they are no mark.
[[nodiscard]] std::optional<Mark> decode_mark(std::string_view bytes);
/// Whether the checksum fits the mark, whose bytes these are, and the block.
[[nodiscard]] bool fits(const Mark& mark, std::string_view bytes, std::string_view packed);

/// One entry of the seek table.
struct Frame {
  std::uint32_t packed_size = 0;
  std::uint32_t size = 0;  ///< 0: skippable
};
/// Appends an entry.
void append(std::string& table, const Frame& frame);
/// Returns the whole table, a skippable frame, of the entries.
[[nodiscard]] std::string seek_table(std::string_view entries);
/// The size of the end of a seek table, which says how long the table is.
inline constexpr std::size_t seek_table_footer = 9;
/// The largest table that is read, in bytes: that of four million blocks.
inline constexpr std::size_t most_seek_table = std::size_t{64} << 20U;
/// Returns the size of the whole table whose end these bytes are; nothing if they are not one, or
/// if the table is too large to be read: the marks say the same.
[[nodiscard]] std::optional<std::uint64_t> seek_table_size(std::string_view footer);
/// Returns the entries of a whole table; empty if it is damaged.
[[nodiscard]] std::vector<Frame> seek_table_entries(std::string_view table);
/// Whether a seek table starts here.
[[nodiscard]] bool is_seek_table(std::string_view bytes);

}  // namespace tracer::replay
