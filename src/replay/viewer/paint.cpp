#include "replay/viewer/paint.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <ctime>

namespace tracer::replay::viewer {

namespace {

using pipeline::views::Row;
using std::chrono::nanoseconds;

std::string seconds_text(nanoseconds time, int width) {
  return fmt::format("{:{}.6f}", std::chrono::duration<double>(time).count(), width);
}

std::string time_of_day(nanoseconds since_epoch) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
  const std::time_t time = seconds.count();
  std::tm parts{};
  ::localtime_r(&time, &parts);
  return fmt::format("{:02}:{:02}:{:02}.{:06}", parts.tm_hour, parts.tm_min, parts.tm_sec,
                     (since_epoch - seconds).count() / 1000);
}

std::string duration_text(nanoseconds time) {
  const auto count = static_cast<double>(time.count());
  return count < 1e6   ? fmt::format("{:.0f} us", count / 1e3)
         : count < 1e9 ? fmt::format("{:.1f} ms", count / 1e6)
                       : fmt::format("{:.2f} s", count / 1e9);
}

std::string time_text(const Row& row, const Columns& columns, const Background& background) {
  switch (columns.time) {
    case TimeColumn::since_start:
      return seconds_text(row.time.realtime - background.start, 11) + ' ';
    case TimeColumn::time_of_day:
      return time_of_day(row.time.realtime) + ' ';
    case TimeColumn::since_before:
      return background.before ? seconds_text(row.time.realtime - *background.before, 11) + ' ' : std::string(12, ' ');
    case TimeColumn::none:
      break;
  }
  return {};
}

Style style_of(const Row& row, const ShownLine& shown) {
  return !shown.fold.empty()           ? Style::dim
         : row.failed                  ? Style::red
         : row.kind == Row::Kind::note ? Style::yellow
                                       : Style::plain;
}

/// Leaves out of a call what has no room, so that its result shows: first what the details say as well, the words for
/// an error and the current directory, then the end of the arguments.
std::string with_result(std::string text, bool failed, std::size_t room) {
  if (const std::size_t words = text.rfind(" (");
      text.size() > room && failed && text.ends_with(')') && words != std::string::npos && words > text.rfind(" = ")) {
    text.erase(words);
  }
  constexpr std::string_view directory = "AT_FDCWD<";
  if (const std::size_t start = text.find(directory); text.size() > room && start != std::string::npos) {
    const std::size_t end = text.find('>', start);
    text.erase(start + directory.size() - 1, end == std::string::npos ? 0 : end + 1 - (start + directory.size() - 1));
  }
  const std::size_t equals = text.rfind(" = ");
  if (text.size() <= room || equals == std::string::npos) {
    return text;
  }
  const std::size_t arguments = text.find_last_not_of(' ', equals);
  std::string end = text.substr(arguments, 1) + text.substr(equals);
  if (arguments + end.size() <= room) {
    return text.substr(0, arguments) + end;
  }
  std::string start = text.substr(0, room - std::min(room, end.size() + 3));
  start.erase(start.find_last_not_of('.') + 1);
  return end.size() > room / 2 ? text : start + "..." + end;
}

bool has_upper_case(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isupper(c) != 0; });
}

}  // namespace

std::size_t find_text(std::string_view text, std::string_view sought, std::size_t from) {
  if (sought.empty() || from > text.size()) {
    return std::string_view::npos;
  }
  if (has_upper_case(sought)) {
    return text.find(sought, from);
  }
  const auto found = std::search(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), sought.begin(),
                                 sought.end(), [](unsigned char a, unsigned char b) { return std::tolower(a) == b; });
  return found == text.end() ? std::string_view::npos : static_cast<std::size_t>(found - text.begin());
}

Line paint(const Row& row, const ShownLine& shown, const Columns& columns, const Background& background) {
  const Style style = background.is_current ? Style::reverse : style_of(row, shown);
  const Style mark = background.is_current ? Style::bold : Style::reverse;
  const Style before = background.is_current ? Style::reverse : Style::dim;
  std::string ahead = time_text(row, columns, background);
  if (columns.threads) {
    ahead += fmt::format("{:>7} ", row.tid);
  }
  if (columns.durations) {
    ahead += fmt::format("{:>8} ", row.duration && shown.fold.empty() ? duration_text(*row.duration) : "");
  }
  std::string text = shown.fold;
  if (shown.fold.empty() && columns.skipped == 0 && row.kind == Row::Kind::call) {
    text = with_result(row.text, row.failed, columns.width - std::min(columns.width, ahead.size() + 1));
  } else if (shown.fold.empty()) {
    text = row.text;
  }
  text.erase(0, columns.skipped);
  Line line;
  line.emplace_back(before, std::move(ahead));
  std::size_t done = 0;
  for (auto found = find_text(text, background.sought); found != std::string_view::npos;
       found = find_text(text, background.sought, done)) {
    line.emplace_back(style, text.substr(done, found - done));
    line.emplace_back(mark, text.substr(found, background.sought.size()));
    done = found + background.sought.size();
  }
  line.emplace_back(style, text.substr(done));
  return line;
}

std::vector<std::string> describe(const Row& row, nanoseconds start, bool to_end) {
  std::vector<std::string> lines;
  const auto split = [&lines](std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      lines.emplace_back(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  };
  split(row.text);
  lines.emplace_back();
  lines.push_back(fmt::format("process   {}{}{}", row.tgid, row.command.empty() ? "" : " " + row.command,
                              row.tid == row.tgid ? "" : fmt::format(", thread {}", row.tid)));
  lines.push_back(fmt::format("began     {}, {} s after the start", time_of_day(row.time.realtime),
                              seconds_text(row.time.realtime - start, 0)));
  if (row.kind == Row::Kind::call) {
    lines.push_back("took      " + (row.duration ? duration_text(*row.duration)
                                    : row.ended  ? "it did not return"
                                    : to_end     ? "its end is not in the recording"
                                                 : "its end was not found yet"));
  }
  if (row.rule != nullptr) {
    lines.push_back(fmt::format("noise     {}", row.rule->label.empty() ? "of a file that is noise" : row.rule->label));
  }
  if (!row.below.empty()) {
    lines.emplace_back();
    split(row.below);
  }
  return lines;
}

std::vector<std::string> wrap(const std::vector<std::string>& lines, std::size_t width) {
  constexpr std::size_t indentation = 8;
  const std::size_t room = std::max<std::size_t>(width, indentation * 2);
  std::vector<std::string> result;
  for (std::string_view rest : lines) {
    std::string before;
    while (before.size() + rest.size() > room) {
      const std::size_t most = room - before.size();
      // After a blank, if there is one in the second half.
      const std::size_t blank = rest.rfind(' ', most - 1);
      const std::size_t size = blank != std::string_view::npos && blank > most / 2 ? blank + 1 : most;
      result.push_back(before + std::string(rest.substr(0, size)));
      rest.remove_prefix(size);
      before.assign(indentation, ' ');
    }
    result.push_back(before + std::string(rest));
  }
  return result;
}

std::vector<std::string> help_lines() {
  return {
      "Moving",
      "  Up Down j k        a line                    PgUp PgDn b Space   a screen",
      "  Home End g G       the start, the end        Left Right          sideways",
      "",
      "Finding",
      "  /                  search for a text; upper case counts only if there is some",
      "  n N                the next match, the one before",
      "  e E                the next call that failed, the one before",
      "  ] [                the next call on the open file of this one, the one before: through dup and fork",
      "",
      "Choosing",
      "  f                  a filter, as options of the command line:",
      "                     -e trace=openat,%net  -P PATH  -Z  --errno=ENOENT  --min-duration=10ms",
      "                     nothing: no filter",
      "  p t                follow the process or the thread of this line alone, or all again",
      "  h H                hide all calls of this name; show them again",
      "  z                  fold what is nearly always noise, or not",
      "  a                  show all: no filter, nothing hidden, all processes",
      "",
      "Looking",
      "  Enter              all of this call: each argument in full; unfolds what is folded",
      "  x                  why the process of this line failed, or what it waits for: what --explain says",
      "  m                  the manual page of this call",
      "  +                  fold again what Enter unfolded",
      "  c                  the time column: since the start, of day, since the line before, none",
      "  d                  the column of durations",
      "",
      "  q                  quit; Ctrl-C breaks a search off, or quits; Ctrl-Z stops",
  };
}

}  // namespace tracer::replay::viewer
