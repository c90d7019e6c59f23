// Counts calls by name and writes the table of -c and -C.
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
  bool wall_clock = false;  ///< -w: count wall-clock time instead of CPU time
  bool ltrace = false;      ///< write ltrace's table
  bool histogram = false;   ///< write a histogram of each call below the table
  std::optional<SummaryColumn> sort_by = SummaryColumn::time_percent;
  std::vector<SummaryColumn> columns = {SummaryColumn::time_percent, SummaryColumn::total_time, SummaryColumn::avg_time,
                                        SummaryColumn::calls,        SummaryColumn::errors,     SummaryColumn::name};
  /// The CPU time that tracing adds to each call. Empty: the time of the shortest call of all.
  std::optional<std::chrono::nanoseconds> overhead;

  /// True if the table needs each call's duration, not only sums and extremes.
  [[nodiscard]] bool wants_latencies() const;
  /// True if the table needs only sums of CPU time: no extremes, single durations or wall-clock time.
  [[nodiscard]] bool wants_sums_only() const;
  /// True if the table shows any time.
  [[nodiscard]] bool wants_times() const;
  /// True if the table needs results of calls, not only their number.
  [[nodiscard]] bool wants_results() const;
};

/// One call that has returned.
struct SummaryCall {
  Abi abi = Abi::x86_64;
  std::uint64_t number = 0;
  bool failed = false;
  std::chrono::nanoseconds cpu_time{};
  std::chrono::nanoseconds wall_time{};
};

struct SummaryTimes {
  std::chrono::nanoseconds total{};
  std::chrono::nanoseconds shortest = std::chrono::nanoseconds::max();  ///< max() if there is none
  std::chrono::nanoseconds longest{};
};

/// Counts of a call that were made elsewhere, as by the BPF engine.
struct SummaryTotals {
  Abi abi = Abi::x86_64;
  std::uint64_t number = 0;
  std::uint64_t calls = 0;
  std::uint64_t errors = 0;
  SummaryTimes cpu_time;
  SummaryTimes wall_time;
  std::span<const std::uint64_t> latencies;  ///< calls by latency_bucket_of() of the wall time; may be empty
};

class Summary {
 public:
  Summary(const spec::Tables& tables, SummaryOptions options)
      : tables_(tables),
        sub_calls_(tables),
        options_(std::move(options)),
        keeps_latencies_(options_.wants_latencies()) {}

  /// Counts a call. Of the numbers that no table knows, which a hostile program makes up, only so many have a row.
  void count(const SummaryCall& call);
  void add(const SummaryTotals& totals);
  /// Counts calls of a library function, which is listed among the system calls as `name`.
  void count_function(Abi abi, std::string_view name, std::uint64_t calls);
  /// Counts the return of a library function. `time` is elapsed time, which counts as CPU time as well.
  void count_function_return(Abi abi, std::string_view name, bool failed, std::chrono::nanoseconds time);
  /// Writes one table for each ABI that had calls, the native one first; ltrace's is one for all. Without calls writes
  /// nothing, or ltrace's empty table.
  void write(TextBuffer& text, Abi native) const;

 private:
  struct Times : SummaryTimes {
    void add_all(const SummaryTimes& other);
    void subtract(std::chrono::nanoseconds overhead, std::uint64_t calls);
  };
  struct Row {
    Abi abi = Abi::x86_64;
    std::uint64_t number = 0;
    std::uint64_t calls = 0;
    std::uint64_t errors = 0;
    Times times;  ///< CPU or wall-clock time, as SummaryOptions::wall_clock says
    Times wall;
    Latencies latencies;
  };
  using Rows = std::vector<Row>;

  /// The first number of functions, whose names are in function_names_.
  static constexpr std::uint64_t first_function = std::uint64_t{1} << 40;

  static constexpr std::size_t most_rows = 4096;  ///< of one ABI

  Row& row_of(Abi abi, std::uint64_t number);
  /// Whether the call has a row, or can have one.
  [[nodiscard]] bool has_room(Abi abi, std::uint64_t number) const;
  Row& row_of_function(Abi abi, std::string_view name);
  void add_to(Row& row, const SummaryTotals& totals);
  [[nodiscard]] std::chrono::nanoseconds overhead() const;
  /// Makes one row of those of system calls and functions, in programs of any ABI, that have one name.
  void join_names(Rows& rows) const;
  void sort(Rows& rows) const;
  void write_table(TextBuffer& text, Rows rows) const;
  void write_cell(TextBuffer& text, SummaryColumn column, const Row& row, std::chrono::nanoseconds total) const;
  [[nodiscard]] bool is_function(std::uint64_t number) const {
    return number >= first_function && number - first_function < function_names_.size();
  }
  /// Returns the name of a system call; empty if no table knows it.
  [[nodiscard]] std::string_view name_of_call(Abi abi, std::uint64_t number) const;
  void write_name(TextBuffer& text, const Row& row) const;
  [[nodiscard]] std::size_t width_of_names(const Rows& rows) const;

  const spec::Tables& tables_;
  spec::SubCalls sub_calls_;
  SummaryOptions options_;
  bool keeps_latencies_;
  std::vector<std::string> function_names_;
  std::unordered_map<std::string, std::uint64_t> function_numbers_;
  std::array<Rows, abi_count> rows_;  ///< each sorted by number
};

}  // namespace tracer::render
