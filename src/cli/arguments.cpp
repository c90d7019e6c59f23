#include "cli/arguments.h"

#include <algorithm>
#include <array>

#include "base/number_text.h"
#include "cli/record_when.h"

namespace tracer::cli {

Failure bad_argument(const GivenOption& given) {
  return *with_remedy(Failure{"invalid " + given.as_written + " argument: '" + given.argument.value_or("") + "'", true},
                      *given.row);
}

Applied attach(Draft& draft, std::string_view list) {
  constexpr std::string_view separators = ", \t\n";
  while (!list.empty()) {
    const auto word = list.substr(0, list.find_first_of(separators));
    list.remove_prefix(std::min(list.size(), word.size() + 1));
    if (word.empty()) {
      continue;
    }
    const auto number = read_number(word, 1, max_int);
    if (!number) {
      return Failure{"Invalid process id: '" + std::string(word) + "'"};
    }
    auto& pids = draft.options.startup.attach;
    const auto pid = static_cast<pid_t>(*number);
    // Under the name strace, the engine reports that the second attachment fails.
    if (draft.options.strict || std::find(pids.begin(), pids.end(), pid) == pids.end()) {
      pids.push_back(pid);
    }
  }
  return std::nullopt;
}

RunAs read_user(const std::string& text) {
  RunAs user;
  const auto colon = text.find(':');
  if (colon != std::string::npos) {
    const auto ids = std::string_view(text);
    const auto uid = filter::parse_decimal(ids.substr(0, colon), 0xfffffffe);
    const auto gid = filter::parse_decimal(ids.substr(colon + 1), 0xfffffffe);
    if (uid && gid) {
      user.user = *uid;
      user.group = *gid;
      return user;
    }
  }
  user.name = text;
  return user;
}

Applied daemonize(Draft& draft, const GivenOption& given) {
  using process::Daemonize;
  static constexpr std::array<filter::ChoiceName<Daemonize>, 4> names = {{{"grandchild", Daemonize::grandchild},
                                                                          {"pgroup", Daemonize::process_group},
                                                                          {"pgrp", Daemonize::process_group},
                                                                          {"session", Daemonize::session}}};
  if (!given.is_long) {
    ++draft.short_daemonize;
    return std::nullopt;
  }
  draft.long_daemonize = true;
  return store(given, read_choice<Daemonize>(given.argument.value_or("grandchild"), names),
               draft.options.startup.daemonize);
}

Applied interruptible(Draft& draft, const GivenOption& given) {
  using process::Interruptible;
  static constexpr std::array<filter::ChoiceName<Interruptible>, 5> names = {
      {{"anywhere", Interruptible::anywhere},
       {"always", Interruptible::anywhere},
       {"waiting", Interruptible::waiting},
       {"never", Interruptible::never},
       {"never_tstp", Interruptible::never_tstp}}};
  draft.interruptible_given = true;
  auto choice = read_choice<Interruptible>(*given.argument, names);
  constexpr std::array numbered = {Interruptible::anywhere, Interruptible::waiting, Interruptible::never,
                                   Interruptible::never_tstp};
  if (const auto number = read_number(*given.argument, 1, numbered.size())) {
    choice = numbered[*number - 1];
  }
  return store(given, choice, draft.options.startup.interruptible);
}

Applied timestamps(Draft& draft, const GivenOption& given) {
  using render::Clock;
  static constexpr std::array<filter::ChoiceName<Clock>, 3> names = {
      {{"none", Clock::none}, {"time", Clock::time_of_day}, {"unix", Clock::unix_time}}};
  draft.long_timestamps = true;
  Format& format = draft.options.format;
  if (!given.argument) {
    format.timestamps = Clock::time_of_day;
    format.timestamp_digits = 0;
    return std::nullopt;
  }
  bool format_given = false;
  for (const auto part : split(*given.argument, ',')) {
    const auto colon = part.find(':');
    const auto key = colon == std::string_view::npos ? std::string_view{} : part.substr(0, colon);
    const auto value = colon == std::string_view::npos ? part : part.substr(colon + 1);
    const auto style = key == "precision" ? std::nullopt : read_choice<Clock>(value, names);
    const auto precision = key == "format" ? std::nullopt : read_precision(value);
    if ((!key.empty() && key != "format" && key != "precision") || (!style && !precision)) {
      return bad_argument(given);
    }
    format_given = format_given || style.has_value();
    format.timestamps = style.value_or(format.timestamps);
    format.timestamp_digits = precision.value_or(format.timestamp_digits);
  }
  if (!format_given && format.timestamps == Clock::none) {
    format.timestamps = Clock::time_of_day;
  }
  return std::nullopt;
}

Applied precision_option(const GivenOption& given, unsigned otherwise, std::optional<unsigned>& into) {
  if (!given.argument) {
    into = otherwise;
    return std::nullopt;
  }
  into = read_precision(*given.argument);
  return into ? Applied{} : bad_argument(given);
}

Applied strings_in_hex(Draft& draft, const GivenOption& given) {
  using render::HexStrings;
  static constexpr std::array<filter::ChoiceName<HexStrings>, 4> names = {{{"none", HexStrings::none},
                                                                           {"non-ascii-chars", HexStrings::characters},
                                                                           {"non-ascii", HexStrings::non_ascii},
                                                                           {"all", HexStrings::all}}};
  draft.long_strings_in_hex = true;
  return store(given, read_choice<HexStrings>(given.argument.value_or("all"), names),
               draft.options.format.strings_in_hex);
}

Applied const_style(Draft& draft, const GivenOption& given) {
  const std::string& word = *given.argument;
  auto& style = draft.options.format.const_style;
  if (word == "raw" || word == "abbrev" || word == "verbose") {
    using format::ConstantForm;
    style = word == "raw" ? ConstantForm::raw : word == "abbrev" ? ConstantForm::abbreviate : ConstantForm::verbose;
    return std::nullopt;
  }
  return bad_argument(given);
}

Applied stack_trace(Draft& draft, const GivenOption& given) {
  auto& trace = draft.options.format.stack_trace;
  if (!given.is_long) {
    ++draft.stack_traces;
    trace = draft.stack_traces == 1 ? StackTrace::symbols : StackTrace::sources;
    return draft.stack_traces > 2 ? Failure{"Too many -k options", true} : Applied{};
  }
  const std::string word = given.argument.value_or("symbol");
  if (!filter::same_word(word, "symbol") && !filter::same_word(word, "source")) {
    return bad_argument(given);
  }
  trace = filter::same_word(word, "symbol") ? StackTrace::symbols : StackTrace::sources;
  return std::nullopt;
}

Applied color(Draft& draft, const GivenOption& given) {
  static constexpr std::array<filter::ChoiceName<Color>, 3> names = {
      {{"auto", Color::automatic}, {"always", Color::always}, {"never", Color::never}}};
  return store(given, read_choice<Color>(*given.argument, names), draft.options.format.color);
}

Applied output(Draft& draft, const std::string& target) {
  Output& out = draft.options.output;
  const bool is_command = target.starts_with('|') || target.starts_with('!');
  out.to = is_command ? Output::To::command : Output::To::file;
  out.target = is_command ? target.substr(1) : target;
  out.given = target;
  return std::nullopt;
}

Applied summary_mode(Draft& draft, SummaryMode mode) {
  SummaryMode& current = draft.options.summary.mode;
  if (current != SummaryMode::none && current != mode) {
    return Failure{"-c/--summary-only and -C/--summary are mutually exclusive", true};
  }
  current = mode;
  return std::nullopt;
}

Applied sort_by(Draft& draft, const std::string& word) {
  draft.sort_given = true;
  draft.options.summary.sort_by = read_summary_column(word);
  if (!draft.options.summary.sort_by && word != "none" && word != "nothing") {
    return Failure{"invalid sortby: '" + word + "'", true};
  }
  return std::nullopt;
}

Applied summary_columns(Draft& draft, std::string_view list) {
  auto& columns = draft.options.summary.columns;
  columns.clear();
  draft.columns_given = true;
  while (true) {
    const auto comma = list.find(',');
    const auto word = list.substr(0, comma);
    const auto column = read_summary_column(word);
    if (!column) {
      return Failure{"unknown column name: '" + std::string(word) + "'", true};
    }
    if (std::find(columns.begin(), columns.end(), *column) != columns.end()) {
      return Failure{"call summary column has been provided more than once: '" + std::string(word) +
                         "' (-U option residual: '" + std::string(list) + "')",
                     true};
    }
    columns.push_back(*column);
    if (comma == std::string_view::npos) {
      break;
    }
    list.remove_prefix(comma + 1);
  }
  if (std::find(columns.begin(), columns.end(), SummaryColumn::name) == columns.end()) {
    columns.push_back(SummaryColumn::name);
  }
  return std::nullopt;
}

Applied tips(Draft& draft, const GivenOption& given) {
  Tips& tips = draft.options.tips;
  tips.shown = true;
  const std::string words = given.argument.value_or("");
  for (const auto part : split(words, ',')) {
    const auto colon = part.find(':');
    const auto key = colon == std::string_view::npos ? std::string_view{} : part.substr(0, colon);
    const auto value = colon == std::string_view::npos ? part : part.substr(colon + 1);
    if (!key.empty() && key != "id" && key != "format") {
      return bad_argument(given);
    }
    const auto number = filter::parse_decimal(value, max_int);
    if (key != "format" && (number || filter::same_word(value, "random"))) {
      tips.random = !number;
      tips.id = number.value_or(0);
    } else if (key != "id" && filter::same_word(value, "none")) {
      tips.shown = false;
    } else if (key != "id" && (filter::same_word(value, "compact") || filter::same_word(value, "full"))) {
      tips.shown = true;
      tips.compact = filter::same_word(value, "compact");
    } else {
      return bad_argument(given);
    }
  }
  return std::nullopt;
}

Applied errno_filter(Draft& draft, const GivenOption& given) {
  for (const auto word : split(*given.argument, ',')) {
    const auto number = read_errno(word);
    if (!number) {
      return Failure{"invalid error '" + std::string(word) + "'"};
    }
    draft.options.filters.end.errnos.push_back(*number);
  }
  return draft.options.filters.end.errnos.empty() ? bad_argument(given) : Applied{};
}

namespace {

/// Parses a number of bytes, which may have a unit: K, M or G. At most `most`.
std::optional<std::uint64_t> read_size(std::string_view text, std::uint64_t most) {
  static constexpr std::string_view units = "KMG";
  const std::size_t unit = text.empty() ? std::string_view::npos : units.find(text.back());
  if (unit != std::string_view::npos) {
    text.remove_suffix(1);
  }
  const auto number = whole_number<std::uint64_t>(text);
  const unsigned shift = unit == std::string_view::npos ? 0 : static_cast<unsigned>(unit + 1) * 10;
  return number && *number <= most >> shift ? std::optional(*number << shift) : std::nullopt;
}

}  // namespace

Applied bpf_buffer(Draft& draft, const GivenOption& given) {
  constexpr std::uint64_t least = 64U << 10;
  constexpr std::uint64_t most = std::uint64_t{2} << 30;
  const auto number = read_size(*given.argument, most);
  if (!number || *number < least) {
    return Failure{"--bpf-buffer: '" + *given.argument + "' is no size from 64K to 2G", true};
  }
  std::uint64_t size = least;
  while (size < *number) {
    size *= 2;
  }
  draft.options.extras.bpf_buffer = static_cast<std::uint32_t>(size);
  return std::nullopt;
}

Applied record_last(Draft& draft, const GivenOption& given) {
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  TraceFiles& files = draft.options.extras.files;
  const std::string& argument = *given.argument;
  const bool is_size = !argument.empty() && std::string_view("KMG").find(argument.back()) != std::string_view::npos;
  files.last_bytes = is_size ? read_size(argument, most) : std::nullopt;
  const bool has_unit = argument.empty() || argument.back() < '0' || argument.back() > '9';
  files.last_time = is_size ? std::nullopt : read_duration(has_unit ? argument : argument + 's');
  return files.in_memory()
             ? Applied{}
             : Failure{"--record-last: '" + argument + "' is neither a time such as 30s nor a size such as 64M", true};
}

Applied record_when(Draft& draft, const GivenOption& given) {
  auto triggers = read_triggers(*given.argument);
  if (!triggers || triggers.value().empty()) {
    return Failure{"--record-when: " + (triggers ? "there is no condition" : triggers.error().message), true};
  }
  draft.options.extras.files.when = std::move(triggers).value();
  return std::nullopt;
}

Applied engine(Draft& draft, const GivenOption& given) {
  static constexpr std::array<filter::ChoiceName<EngineChoice>, 4> names = {{{"auto", EngineChoice::automatic},
                                                                             {"ptrace", EngineChoice::ptrace},
                                                                             {"bpf", EngineChoice::bpf},
                                                                             {"inprocess", EngineChoice::inprocess}}};
  return store(given, read_choice<EngineChoice>(*given.argument, names), draft.options.extras.engine);
}

Applied compat(Draft& draft, const GivenOption& given) {
  static constexpr std::array<filter::ChoiceName<Compat>, 2> names = {
      {{"strace", Compat::strace}, {"none", Compat::none}}};
  return store(given, read_choice<Compat>(*given.argument, names), draft.options.compat);
}

Applied stack_unwinder(Draft& draft, const GivenOption& given) {
  static constexpr std::array<filter::ChoiceName<StackUnwinder>, 2> names = {
      {{"libdw", StackUnwinder::libdw}, {"libunwind", StackUnwinder::libunwind}}};
  return store(given, read_choice<StackUnwinder>(*given.argument, names), draft.options.format.stack_unwinder);
}

Applied folded_weight(Draft& draft, const GivenOption& given) {
  using render::FoldedWeight;
  static constexpr std::array<filter::ChoiceName<FoldedWeight>, 3> names = {
      {{"calls", FoldedWeight::calls}, {"time", FoldedWeight::time}, {"bytes", FoldedWeight::bytes}}};
  return store(given, read_choice<FoldedWeight>(*given.argument, names), draft.options.format.folded_weight);
}

Applied output_format(Draft& draft, const GivenOption& given) {
  for (const OutputFormatRow& row : output_formats) {
    if (filter::same_word(row.name, *given.argument)) {
      draft.options.format.output = row.format;
      return std::nullopt;
    }
  }
  return bad_argument(given);
}

}  // namespace tracer::cli
