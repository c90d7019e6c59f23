// The table of -c and -C: calls counted by name.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/summary_column.h"
#include "base/text_buffer.h"
#include "render/latencies.h"
#include "spec/spec.h"
#include "spec/sub_calls.h"

namespace tracer::render {

struct SummaryOptions {
  bool wall_clock = false;  ///< -w: times are wall-clock times
  bool ltrace = false;      ///< the table is as ltrace writes it
  bool histogram = false;   ///< below the table, for each call
  std::optional<SummaryColumn> sort_by = SummaryColumn::time_percent;
  std::vector<SummaryColumn> columns = {SummaryColumn::time_percent, SummaryColumn::total_time, SummaryColumn::avg_time,
                                        SummaryColumn::calls,        SummaryColumn::errors,     SummaryColumn::name};
  /// What watching adds to each call's CPU time. Empty: as much as the shortest call took, whatever it did.
  std::optional<std::chrono::nanoseconds> overhead;

  /// Whether single times matter, not only their sums and extremes.
  [[nodiscard]] bool wants_latencies() const;
  /// Whether sums of times on CPU are all that matters of times, not extremes, single ones or elapsed time.
  [[nodiscard]] bool wants_sums_alone() const;
  /// Whether times matter at all.
  [[nodiscard]] bool wants_times() const;
  /// Whether it matters how calls end, as against how many there are.
  [[nodiscard]] bool wants_ends() const;
};

/// One call that has ended.
struct SummaryCall {
  Abi abi = Abi::x86_64;
  std::uint64_t number = 0;
  bool failed = false;
  std::chrono::nanoseconds cpu_time{};
  std::chrono::nanoseconds wall_time{};
};

struct SummaryTimes {
  std::chrono::nanoseconds total{};
  std::chrono::nanoseconds shortest = std::chrono::nanoseconds::max();  ///< of none
  std::chrono::nanoseconds longest{};
};

/// Calls that somebody else has counted.
struct SummaryTotals {
  Abi abi = Abi::x86_64;
  std::uint64_t number = 0;
  std::uint64_t calls = 0;
  std::uint64_t errors = 0;
  SummaryTimes cpu_time;
  SummaryTimes wall_time;
  std::span<const std::uint64_t> latencies;  ///< calls by latency_bucket_of() their wall time; may be empty
};

class Summary {
 public:
  Summary(const spec::Tables& tables, SummaryOptions options)
      : tables_(tables),
        sub_calls_(tables),
        options_(std::move(options)),
        keeps_latencies_(options_.wants_latencies()) {}

  /// As strace, leaves out numbers that no table knows: they pass every selection, and nobody asked for them.
  void count(const SummaryCall& call);
  void add(const SummaryTotals& totals);
  /// Calls of a function, which stands among the system calls under `name`.
  void count_function(Abi abi, std::string_view name, std::uint64_t calls);
  /// One of them has returned. Its time is elapsed time, by any clock.
  void end_function(Abi abi, std::string_view name, bool failed, std::chrono::nanoseconds time);
  /// One table for each ABI that had calls, the native one first; if there were none, nothing, or ltrace's empty one.
  void write(TextBuffer& text, Abi native) const;

 private:
  struct Times : SummaryTimes {
    void add_all(const SummaryTimes& other);
    void take_off(std::chrono::nanoseconds overhead, std::uint64_t calls);
  };
  struct Row {
    std::uint64_t number = 0;
    std::uint64_t calls = 0;
    std::uint64_t errors = 0;
    Times times;  ///< by the clock that the options ask for
    Times wall;
    Latencies latencies;
  };
  using Rows = std::vector<Row>;

  /// Numbers of functions begin here: their names are in function_names_.
  static constexpr std::uint64_t first_function = std::uint64_t{1} << 40;

  Row& row_of(Abi abi, std::uint64_t number);
  Row& row_of_function(Abi abi, std::string_view name);
  void add_to(Row& row, const SummaryTotals& totals);
  [[nodiscard]] std::chrono::nanoseconds overhead() const;
  void sort(Rows& rows, Abi abi) const;
  void write_table(TextBuffer& text, Abi abi) const;
  void write_cell(TextBuffer& text, SummaryColumn column, const Row& row, std::chrono::nanoseconds total) const;
  /// Of a system call; empty: no table knows it.
  [[nodiscard]] std::string_view name_of_call(Abi abi, std::uint64_t number) const;
  void write_name(TextBuffer& text, Abi abi, std::uint64_t number) const;
  [[nodiscard]] std::size_t width_of_names(const Rows& rows, Abi abi) const;

  const spec::Tables& tables_;
  spec::SubCalls sub_calls_;
  SummaryOptions options_;
  bool keeps_latencies_;
  std::vector<std::string> function_names_;
  std::unordered_map<std::string, std::uint64_t> function_numbers_;
  std::array<Rows, abi_count> rows_;  ///< each sorted by number
};

}  // namespace tracer::render
