// The events of a block by columns: what is of one kind in all of them stands together, and packs far better so.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "replay/varint.h"

namespace tracer::replay {

/// Numbers of the file format: never change one, append new ones.
enum class Column : std::uint8_t {
  tags = 0,
  flags = 1,
  threads = 2,  ///< and ABIs
  times = 3,
  calls = 4,    ///< the numbers of system calls
  changes = 5,  ///< which of the arguments and pointers differ from the call before
  first_argument = 6,
  last_argument = 11,
  instruction_pointers = 12,
  stack_pointers = 13,
  results = 14,
  others = 15,     ///< whole records, and what system calls hardly ever have
  time_lows = 16,  ///< the lowest byte of each time, which packs as well as not at all; since version 4
};
inline constexpr std::size_t column_count = 17;

/// The column of a register of a system call: of its arguments, then of its pointers.
[[nodiscard]] constexpr Column register_column(unsigned index) {
  return static_cast<Column>(static_cast<unsigned>(Column::first_argument) + index);
}

class ColumnWriter {
 public:
  Encoder at(Column column) { return Encoder(texts_[static_cast<std::size_t>(column)]); }
  [[nodiscard]] bool empty() const { return texts_[static_cast<std::size_t>(Column::tags)].empty(); }
  /// Of all columns, in bytes.
  [[nodiscard]] std::size_t size() const {
    std::size_t size = 0;
    for (const std::string& text : texts_) {
      size += text.size();
    }
    return size;
  }
  /// Appends all columns to a block, and empties them.
  void take(std::string& block);

 private:
  std::array<std::string, column_count> texts_;
};

class ColumnReader {
 public:
  ColumnReader() = default;
  ColumnReader(const ColumnReader&) = delete;
  ColumnReader& operator=(const ColumnReader&) = delete;

  /// Starts with the events of a block. What is damaged has empty columns; those of later versions are passed over.
  void begin(std::string_view events);

  Cursor& at(Column column) { return texts_[static_cast<std::size_t>(column)]; }
  /// Whether anything was read that is not there.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::array<Cursor, column_count> texts_;
  bool failed_ = false;  ///< any of them
};

}  // namespace tracer::replay
