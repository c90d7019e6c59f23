// The calls of --format=html: a row for each, written column by column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pipeline/exports/facts.h"

namespace tracer::pipeline::exports {

/// Texts by number; equal texts have one number. 0 is the empty text.
class TextTable {
 public:
  /// Further texts are 0 when there are `most`, or when they have this many bytes together.
  TextTable(std::size_t most, std::size_t most_bytes) : most_(most), most_bytes_(most_bytes) { clear(); }

  std::uint32_t add(std::string_view text);
  void clear();
  [[nodiscard]] const std::vector<std::string_view>& texts() const { return texts_; }
  [[nodiscard]] bool full() const { return full_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::size_t most_;
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  bool full_ = false;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
  std::vector<std::string_view> texts_;  ///< by number; they are the keys of `numbers_`
};

struct CallRow {
  std::int64_t start = 0;     ///< nanoseconds since the first event
  std::int64_t duration = 0;  ///< nanoseconds
  std::int64_t result = 0;
  std::uint32_t thread = 0;
  std::uint32_t name = 0;
  std::uint32_t error = 0;      ///< a text; 0: it did not fail
  std::uint32_t object = 0;     ///< the file or socket that it was about; 0: none
  std::uint32_t arguments = 0;  ///< a text; 0: not kept
  std::uint32_t stack = 0;      ///< the innermost frame's number; 0: none
  std::uint32_t end = 0;        ///< Call::End
};

/// Holds at most so many calls; of more it keeps the slowest and those that failed.
class CallColumns {
 public:
  explicit CallColumns(std::size_t most);

  /// `arguments` is JSON.
  void add(CallRow row, std::string_view arguments);
  /// Sorts by the start. Called last.
  void sort();

  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] const std::vector<CallRow>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<std::string_view>& arguments() const { return arguments_.texts(); }
  [[nodiscard]] bool arguments_are_complete() const { return !arguments_.full(); }

 private:
  [[nodiscard]] std::int64_t& least(const CallRow& row) { return row.error != 0 ? least_failed_ : least_other_; }
  void thin_out();

  std::size_t most_;
  std::uint64_t total_ = 0;
  std::int64_t least_failed_ = 0;  ///< shorter ones are not kept any more
  std::int64_t least_other_ = 0;
  std::vector<CallRow> rows_;
  TextTable arguments_;
};

/// Appends a number as LEB128, seven bits a byte, the lowest first.
void append_varint(std::string& bytes, std::uint64_t number);
/// Maps 0, -1, 1, -2, … to 0, 1, 2, 3, …
[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t number) {
  return static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63);
}

}  // namespace tracer::pipeline::exports
