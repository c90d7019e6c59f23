// The memory that was read at one event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tracer::replay {

class Ranges {
 public:
  void clear();

  /// Copies from one range that has all of it. Returns whether there is one.
  bool find(std::uint64_t address, std::span<std::byte> into);
  /// Adds what was read.
  void add(std::uint64_t address, std::span<const std::byte> bytes);
  /// Adds what lives elsewhere until clear().
  void add_view(std::uint64_t address, std::span<const std::byte> bytes);
  /// Only the first `size` bytes of the last find() or add() need to be kept, unless others need more.
  void trim(std::size_t size);

  /// Copies what there is from the start, without a gap, and returns how much that is.
  [[nodiscard]] std::size_t read(std::uint64_t address, std::span<std::byte> into) const;

  /// Calls `function` with the address and the bytes of each range, as far as they are to be kept.
  template <typename Function>
  void for_each(Function function) const {
    for (const Range& range : ranges_) {
      if (range.kept != 0) {
        function(range.address, std::span(start_of(range), range.kept));
      }
    }
  }

 private:
  struct Range {
    std::uint64_t address = 0;
    std::size_t offset = 0;              ///< in `bytes_`
    const std::byte* outside = nullptr;  ///< null: in `bytes_`
    std::size_t size = 0;
    std::size_t kept = 0;
  };
  /// The last find() or add().
  struct Last {
    std::size_t range = 0;
    std::size_t start = 0;        ///< in the range
    std::size_t kept_before = 0;  ///< of the range
  };

  [[nodiscard]] const std::byte* start_of(const Range& range) const {
    return range.outside != nullptr ? range.outside : bytes_.data() + range.offset;
  }
  /// Returns the number of bytes from an address on that a range has.
  [[nodiscard]] static std::uint64_t kept_from(const Range& range, std::uint64_t address) {
    const std::uint64_t start = address - range.address;
    return address >= range.address && start < range.kept ? range.kept - start : 0;
  }

  std::vector<Range> ranges_;
  mutable std::size_t read_last_ = 0;  ///< the range that the last read() was from: the next one is often near
  std::vector<std::byte> bytes_;
  Last last_;
};

}  // namespace tracer::replay
