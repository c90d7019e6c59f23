// The reader's end of a BPF ring buffer: what the programs in the kernel hand over, in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/mapping.h"
#include "base/result.h"

namespace tracer::bpf {

/// One producer position and one consumer position in pages shared with the kernel, and the data twice in a row, so
/// that no record is torn (include/uapi/linux/bpf.h, BPF_RINGBUF_*; Documentation/bpf/ringbuf.rst).
class RecordRing {
 public:
  /// `map` is a map of type BPF_MAP_TYPE_RINGBUF with `size` bytes; it has to stay open as long as someone polls it
  /// (POLLIN: there are records).
  static Result<RecordRing> open(int map, std::size_t size);

  enum class Look : std::uint8_t { record, nothing, busy };

  /// Passes on to the next record, which is valid until the call after; those before it have been taken. Busy: it is
  /// being written, and nothing behind it can be had before.
  Look next(std::span<const std::byte>& record);

  /// Lets the kernel have the room of all records before the last one.
  void give_back();

  /// Hands out up to `most` records, oldest first; each is valid only during its `take`, which must not throw. Returns
  /// how many there were.
  template <typename Take>
  std::size_t consume(std::size_t most, const Take& take) {
    std::size_t taken = 0;
    for (std::span<const std::byte> record; taken < most && next(record) == Look::record; ++taken) {
      take(record);
      taken_ = position_;
    }
    give_back();
    return taken;
  }

  /// How far there are records, those that are being written among them, and whether all up to there were handed out.
  [[nodiscard]] std::uint64_t end() const { return position_ + waiting(); }
  [[nodiscard]] bool has_passed(std::uint64_t end) const { return position_ >= end; }

  /// Bytes that wait to be taken.
  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] std::size_t size() const { return mask_ + 1; }

 private:
  static constexpr std::size_t room_returned_at_once = 16384;

  RecordRing(Mapping consumer, Mapping producer, std::size_t page, std::size_t size);

  Mapping consumer_;
  Mapping producer_;
  const std::byte* data_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t position_ = 0;  ///< behind the last record that was handed out
  std::uint64_t taken_ = 0;     ///< behind the last that has been taken
  std::uint64_t returned_ = 0;  ///< what the kernel knows of that
  std::uint64_t known_ = 0;     ///< what there was up to when we looked last
};

}  // namespace tracer::bpf
