#include "cli/ltrace.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/number_text.h"
#include "cli/help.h"

namespace tracer::cli {
namespace {

struct Row {
  char letter;
  std::string_view name;      ///< long; empty: none
  std::string_view argument;  ///< empty: it takes none
  std::string_view words;
};

constexpr std::array rows = {
    Row{'a', "align", "COLUMN", "align results in this column"},
    Row{'A', "", "N", "print so many elements of an array"},
    Row{'b', "no-signals", "", "do not print signals"},
    Row{'c', "", "", "count calls and time, and print a table at the end"},
    Row{'C', "demangle", "", "print names of C++ and Rust functions as people write them"},
    Row{'D', "debug", "MASK", "say what the tracer does; -Dh lists the masks"},
    Row{'e', "", "FILTER", "calls to trace, by the module that calls: [+-][SYMBOL][@MODULE]..."},
    Row{'f', "", "", "follow children"},
    Row{'F', "config", "FILE", "read prototypes from FILE, or from directories separated by colons"},
    Row{'h', "help", "", "print this and exit"},
    Row{'i', "", "", "print where calls return to"},
    Row{'l', "library", "PATTERN", "calls to trace, by the library that is called"},
    Row{'L', "", "", "no calls of libraries but those of -x"},
    Row{'n', "indent", "N", "indent by N columns for each call that is open"},
    Row{'o', "output", "FILE", "write to FILE"},
    Row{'p', "", "PID", "attach to this process"},
    Row{'r', "", "", "print times since the line before"},
    Row{'s', "", "SIZE", "print so many characters of a string"},
    Row{'S', "", "", "trace system calls, too"},
    Row{'t', "", "", "print the time; -tt: with microseconds; -ttt: since the epoch"},
    Row{'T', "", "", "print how long calls took"},
    Row{'u', "", "USER", "run the command as this user"},
    Row{'V', "version", "", "print the version and exit"},
    Row{'w', "where", "N", "print N frames of the stack after each call"},
    Row{'x', "", "FILTER", "functions to trace at their entry, whoever calls: [+-][SYMBOL][@MODULE]..."},
};

constexpr unsigned most_masks = 077;

std::string help_of_ltrace(const std::string& name) {
  std::string text = "Usage: " + name + " [OPTION]... [COMMAND [ARGUMENT]...]\nTrace library calls of a program.\n\n";
  constexpr std::size_t column = 28;
  for (const Row& row : rows) {
    std::string line = std::string("  -") + row.letter;
    if (!row.name.empty()) {
      line += ", --" + std::string(row.name);
    }
    if (!row.argument.empty()) {
      line += (row.name.empty() ? " " : "=") + std::string(row.argument);
    }
    line.resize(std::max(line.size() + 1, column), ' ');
    text += line + std::string(row.words) + '\n';
  }
  return text;
}

std::string help_on_debugging() {
  return "MASK is an octal number, the sum of\n"
         "  1  general\n  10 events\n  20 processes\n  40 functions\n  77 everything\n";
}

std::optional<unsigned> number(std::string_view text, unsigned least, unsigned most, int base = 10) {
  const auto value = whole_number<unsigned>(text, base);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

class Reader {
 public:
  Reader(const std::vector<std::string>& words, const Environment& environment)
      : words_(words), environment_(environment) {
    options_.program_name = words.empty() ? "ltrace" : words.front();
  }

  Outcome read();

 private:
  using Ended = std::optional<Outcome>;

  Ended read_long(std::string_view word);
  Ended read_letters(std::string_view letters);
  Ended apply(const Row& row, const std::string& argument);
  Ended apply_number(const Row& row, const std::string& argument);
  Ended debug(const std::string& argument);
  Ended finish();
  [[nodiscard]] Outcome refuse(const std::string& message, bool hint = true) const {
    std::string text = options_.program_name + ": " + message + "\n";
    if (hint) {
      text += "Try `" + options_.program_name + " --help' for more information.\n";
    }
    return UsageError{text};
  }
  [[nodiscard]] std::optional<std::string> next_word() {
    return at_ < words_.size() ? std::optional(words_[at_++]) : std::nullopt;
  }

  const std::vector<std::string>& words_;
  const Environment& environment_;
  std::size_t at_ = 1;
  Options options_;
  Ltrace ltrace_;
  bool no_calls_ = false;
  bool syscalls_ = false;
  bool aligned_ = false;
  unsigned times_ = 0;
};

Reader::Ended Reader::read_long(std::string_view word) {
  const auto equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const Row* found = nullptr;
  bool several = false;
  for (const Row& row : rows) {
    if (!name.empty() && row.name == name) {
      found = &row;
      several = false;
      break;
    }
    if (!name.empty() && row.name.starts_with(name)) {
      several = found != nullptr;
      found = &row;
    }
  }
  const std::string typed = "'--" + std::string(name) + "'";
  if (several) {
    return refuse("option " + typed + " is ambiguous");
  }
  if (found == nullptr) {
    return refuse("unrecognized option '--" + std::string(word) + "'");
  }
  const std::string full = "'--" + std::string(found->name) + "'";
  if (found->argument.empty()) {
    return equals == std::string_view::npos ? apply(*found, {})
                                            : refuse("option " + full + " doesn't allow an argument");
  }
  if (equals != std::string_view::npos) {
    return apply(*found, std::string(word.substr(equals + 1)));
  }
  const auto argument = next_word();
  return argument ? apply(*found, *argument) : refuse("option " + full + " requires an argument");
}

Reader::Ended Reader::read_letters(std::string_view letters) {
  while (!letters.empty()) {
    const char letter = letters.front();
    letters.remove_prefix(1);
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.letter == letter; });
    if (row == rows.end()) {
      return refuse(std::string("invalid option -- '") + letter + "'");
    }
    std::optional<std::string> argument = std::string();
    if (!row->argument.empty()) {
      argument = letters.empty() ? next_word() : std::string(letters);
      letters = {};
    }
    if (!argument) {
      return refuse(std::string("option requires an argument -- '") + letter + "'");
    }
    if (auto ended = apply(*row, *argument)) {
      return ended;
    }
  }
  return std::nullopt;
}

Reader::Ended Reader::debug(const std::string& argument) {
  if (argument == "h" || argument == "help") {
    return Information{help_on_debugging()};
  }
  const auto mask = number(argument, 0, most_masks, 8);
  if (!mask) {
    return refuse("--debug requires an octal argument");
  }
  options_.startup.debug = *mask != 0;
  return std::nullopt;
}

Reader::Ended Reader::apply_number(const Row& row, const std::string& argument) {
  struct Limits {
    char letter;
    unsigned least;
    unsigned most;
    std::string_view words;
  };
  constexpr unsigned any = 0x3fffffff;
  static constexpr std::array limits = {Limits{'a', 0, any, "integer >=0"},  Limits{'A', 0, any, "integer >=0"},
                                        Limits{'n', 0, 20, "integer 0..20"}, Limits{'p', 1, 0x7fffffff, "integer >=1"},
                                        Limits{'s', 0, any, "integer >=0"},  Limits{'w', 1, any, "integer >=1"}};
  const auto limit =
      std::find_if(limits.begin(), limits.end(), [&](const Limits& l) { return l.letter == row.letter; });
  const auto value = number(argument, limit->least, limit->most);
  if (!value) {
    return UsageError{std::string("Invalid argument to -") + row.letter + ": '" + argument + "'.  Use " +
                      std::string(limit->words) + ".\n"};
  }
  switch (row.letter) {
    case 'a':
      options_.format.column = std::max(*value, 1U) - 1;
      aligned_ = true;
      break;
    case 'A':
      ltrace_.most_elements = *value;
      break;
    case 'n':
      options_.format.indent = *value;
      break;
    case 'p': {
      const auto pid = static_cast<pid_t>(*value);
      if (auto& pids = options_.startup.attach; std::find(pids.begin(), pids.end(), pid) == pids.end()) {
        pids.push_back(pid);
      }
      break;
    }
    case 's':
      options_.format.string_limit = *value;
      break;
    default:
      options_.format.stack_trace = StackTrace::sources;
      options_.format.stack_frame_limit = *value;
      break;
  }
  return std::nullopt;
}

Reader::Ended Reader::apply(const Row& row, const std::string& argument) {
  switch (row.letter) {
    case 'b':
      ltrace_.show_signals = false;
      break;
    case 'c':
      options_.summary.mode = SummaryMode::only;
      break;
    case 'C':
      ltrace_.demangle = true;
      break;
    case 'D':
      return debug(argument);
    case 'e':
      options_.extras.libraries.push_back(argument);
      break;
    case 'f':
      options_.startup.follow_forks = true;
      break;
    case 'F':
      ltrace_.prototypes.push_back(argument);
      break;
    case 'h':
      return Information{help_of_ltrace(options_.program_name)};
    case 'i':
      options_.format.instruction_pointer = true;
      break;
    case 'l':
      ltrace_.exporters.push_back(argument);
      break;
    case 'L':
      no_calls_ = true;
      break;
    case 'o':
      options_.output.to = Output::To::file;
      options_.output.target = argument;
      break;
    case 'r':
      options_.format.relative_timestamps = microseconds;
      break;
    case 'S':
      syscalls_ = true;
      break;
    case 't':
      ++times_;
      break;
    case 'T':
      options_.format.syscall_times = microseconds;
      break;
    case 'u':
      options_.startup.user = RunAs{argument};
      break;
    case 'V':
      return Information{version_text(1, false) +
                         "Under this name: the options, text and prototype files of ltrace 0.7.91.\n"};
    case 'x':
      options_.extras.symbols.push_back(argument);
      break;
    default:
      return apply_number(row, argument);
  }
  return std::nullopt;
}

Reader::Ended Reader::finish() {
  const bool chosen = !options_.extras.libraries.empty() || !ltrace_.exporters.empty();
  if (no_calls_ && !options_.extras.libraries.empty()) {
    return refuse("Option -L can't be used with -e or -l.");
  }
  if (options_.startup.program.empty() && options_.startup.attach.empty()) {
    return refuse("too few arguments");
  }
  if (times_ > 0 && options_.format.relative_timestamps) {
    return refuse("Options -r and -t can't be used together");
  }
  if (options_.startup.user && environment_.user != 0) {
    return refuse("-u is for root", false);
  }
  if (times_ > 0) {
    options_.format.timestamps = times_ < 3 ? render::Clock::time_of_day : render::Clock::unix_time;
    options_.format.timestamp_digits = times_ == 1 ? 0 : microseconds;
  }
  if (!no_calls_ && !chosen) {
    options_.extras.libraries.emplace_back("@MAIN");
  }
  ltrace_.show_callers = chosen;
  if (!syscalls_) {
    options_.filters.trace = {};
  }
  if (!aligned_) {
    constexpr unsigned usual_width = 80;
    const unsigned width = environment_.columns == 0 ? usual_width : environment_.columns;
    options_.format.column = std::max(width * 5 / 8, 1U) - 1;
  }
  return std::nullopt;
}

Outcome Reader::read() {
  options_.strict = true;
  options_.extras.engine = EngineChoice::ptrace;
  options_.format.color = Color::never;
  using filter::Quiet;
  options_.format.quiet = {Quiet::attach, Quiet::path_resolution, Quiet::personality, Quiet::thread_execve};
  options_.summary.wall_clock = true;
  options_.summary.columns = {SummaryColumn::time_percent, SummaryColumn::total_time, SummaryColumn::avg_time,
                              SummaryColumn::calls, SummaryColumn::name};
  while (at_ < words_.size()) {
    const std::string_view word = words_[at_];
    if (word.size() < 2 || word.front() != '-') {
      break;
    }
    ++at_;
    if (word == "--") {
      break;
    }
    if (auto ended = word[1] == '-' ? read_long(word.substr(2)) : read_letters(word.substr(1))) {
      return std::move(*ended);
    }
  }
  options_.startup.program.assign(words_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, words_.size())),
                                  words_.end());
  if (auto ended = finish()) {
    return std::move(*ended);
  }
  options_.ltrace = std::move(ltrace_);
  return std::move(options_);
}

}  // namespace

bool is_ltrace(const std::vector<std::string>& words) {
  if (words.empty()) {
    return false;
  }
  const std::string_view name = words.front();
  return name.substr(name.rfind('/') + 1) == "ltrace";
}

Outcome parse_ltrace_command_line(const std::vector<std::string>& words, const Environment& environment) {
  return Reader(words, environment).read();
}

}  // namespace tracer::cli
