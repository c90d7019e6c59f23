// The table of -c and -C: calls counted by name.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text_buffer.h"
#include "spec/spec.h"

namespace tracer::render {

enum class SummaryColumn : std::uint8_t {
  time_percent,
  total_time,
  min_time,
  max_time,
  avg_time,
  calls,
  errors,
  name,
  wall_total,
  wall_min,
  wall_max,
  wall_avg,
};

struct SummaryOptions {
  bool wall_clock = false;  ///< -w: times are wall-clock times
  std::optional<SummaryColumn> sort_by = SummaryColumn::time_percent;
  std::vector<SummaryColumn> columns = {SummaryColumn::time_percent, SummaryColumn::total_time, SummaryColumn::avg_time,
                                        SummaryColumn::calls,        SummaryColumn::errors,     SummaryColumn::name};
  /// What watching adds to each call's CPU time. Empty: as much as the shortest call took, whatever it did.
  std::optional<std::chrono::nanoseconds> overhead;
};

/// One call that has ended.
struct SummaryCall {
  Abi abi = Abi::x86_64;
  std::uint64_t number = 0;
  bool failed = false;
  std::chrono::nanoseconds cpu_time{};
  std::chrono::nanoseconds wall_time{};
};

class Summary {
 public:
  Summary(const spec::Tables& tables, SummaryOptions options) : tables_(tables), options_(std::move(options)) {}

  /// As strace, leaves out numbers that no table knows: they pass every selection, and nobody asked for them.
  void count(const SummaryCall& call);
  /// One table for each ABI that had calls, the native one first; nothing if there were none.
  void write(TextBuffer& text, Abi native) const;

 private:
  struct Times {
    std::chrono::nanoseconds total{};
    std::chrono::nanoseconds shortest = std::chrono::nanoseconds::max();
    std::chrono::nanoseconds longest{};

    void add(std::chrono::nanoseconds time);
    void add_all(const Times& other);
    void take_off(std::chrono::nanoseconds overhead, std::uint64_t calls);
  };
  struct Row {
    std::uint64_t number = 0;
    std::uint64_t calls = 0;
    std::uint64_t errors = 0;
    Times times;  ///< by the clock that the options ask for
    Times wall;
  };
  using Rows = std::vector<Row>;

  Row& row_of(Abi abi, std::uint64_t number);
  [[nodiscard]] std::chrono::nanoseconds overhead() const;
  void sort(Rows& rows, Abi abi) const;
  void write_table(TextBuffer& text, Abi abi) const;
  void write_cell(TextBuffer& text, SummaryColumn column, const Row& row, std::chrono::nanoseconds total) const;
  void write_name(TextBuffer& text, Abi abi, std::uint64_t number) const;

  const spec::Tables& tables_;
  SummaryOptions options_;
  std::array<Rows, abi_count> rows_;  ///< each sorted by number
};

}  // namespace tracer::render
