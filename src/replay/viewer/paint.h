// How rows look on the screen.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/views/rows.h"
#include "replay/viewer/lines.h"
#include "replay/viewer/terminal.h"

namespace tracer::replay::viewer {

/// Which time stands before a row.
enum class TimeColumn : std::uint8_t { since_start, time_of_day, since_before, none };
inline constexpr unsigned time_columns = 4;

/// The columns before the text of a row.
struct Columns {
  TimeColumn time = TimeColumn::since_start;
  bool durations = true;
  bool threads = false;
  std::size_t skipped = 0;  ///< of the text, from the left
  std::size_t width = 80;   ///< of all together
};

/// What rows are seen against.
struct Background {
  std::chrono::nanoseconds start{};                  ///< of the recording (CLOCK_REALTIME)
  std::optional<std::chrono::nanoseconds> before{};  ///< when the row before began
  std::string_view sought;                           ///< is marked in the text
  bool is_current = false;                           ///< the cursor stands there
};

[[nodiscard]] Line paint(const pipeline::views::Row& row, const ShownLine& shown, const Columns& columns,
                         const Background& background);

/// Returns where in the text, not before `from`, something is; npos: nowhere. Upper case matters if there is some in
/// what is sought.
[[nodiscard]] std::size_t find_text(std::string_view text, std::string_view sought, std::size_t from = 0);

/// All that is known of a row, in lines that are as long as they are. `to_end`: the end of the call was looked for in
/// the whole recording.
[[nodiscard]] std::vector<std::string> describe(const pipeline::views::Row& row, std::chrono::nanoseconds start,
                                                bool to_end);

/// Breaks lines so that they fit.
[[nodiscard]] std::vector<std::string> wrap(const std::vector<std::string>& lines, std::size_t width);

/// What the keys do.
[[nodiscard]] std::vector<std::string> help_lines();

}  // namespace tracer::replay::viewer
