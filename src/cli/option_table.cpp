#include "cli/option_table.h"

#include <algorithm>
#include <array>

#include "base/near_miss.h"

namespace tracer::cli {
namespace {

constexpr std::array headings = {
#define GROUP(id, heading) std::string_view(heading),
#include "cli/options.def"
};

// A GROUP line sets the group of the rows that follow, so the rows are numbered by a function, at compile time.
#define GROUP(id, heading)
// NOLINTNEXTLINE(bugprone-macro-parentheses): a term of a sum
#define OPTION(id, letter, long_name, form, placeholder, other_names, qualifiers, help, manual) +1
constexpr std::size_t options = 0
#include "cli/options.def"
    ;

constexpr std::array<OptionRow, options> make_rows() {
  std::array<OptionRow, options> rows{};
  std::size_t next = 0;
  OptionGroup group{};
#define GROUP(id, heading) group = OptionGroup::id;
#define OPTION(id, letter, long_name, form, placeholder, other_names, qualifiers, help, manual) \
  rows[next++] = {OptionId::id, group,       letter,     long_name, ArgumentForm::form,         \
                  placeholder,  other_names, qualifiers, help,      manual};
#include "cli/options.def"
  return rows;
}

constexpr std::array<OptionRow, options> table = make_rows();

template <typename Visit>
void for_each_word(std::string_view words, Visit visit) {
  while (!words.empty()) {
    const auto word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    visit(word);
  }
}

template <typename Visit>
void for_each_long_name(const OptionRow& row, Visit visit) {
  if (!row.long_name.empty()) {
    visit(row.long_name);
    for_each_word(row.other_names, visit);
  }
}

struct LongName {
  const OptionRow* row = nullptr;
  std::string_view name;
};

/// The long options of strace 7.2, as its messages order those that a beginning may mean.
constexpr std::string_view names_of_strace =
    "summary-only summary detach-on debug daemonize daemonised daemonized env follow-forks "
    "output-append-mode output-separately help instruction-pointer interruptible kill-on-exit "
    "stack-trace stack-traces stack-trace-frame-limit syscall-limit syscall-number arg-names output "
    "summary-syscall-overhead attach trace-path relative-timestamps string-limit summary-sort-by "
    "absolute-timestamps timestamps syscall-times user summary-columns columns no-abbrev version "
    "summary-wall-clock strings-in-hex const-print-style pidns-translation successful-only failed-only "
    "failing-only argv0 always-show-pid color seccomp-bpf tips trace trace-fds abbrev verbose raw "
    "signals status silent silence secontext quiet read write fault inject decode-fds decode-pids kvm "
    "namespace";

/// Its place among them; behind all if strace has no such option.
std::size_t place_in_strace(std::string_view name) {
  std::size_t place = 0;
  bool found = false;
  for_each_word(names_of_strace, [&](std::string_view each) {
    found = found || each == name;
    place += found ? 0 : 1;
  });
  return found ? place : std::string_view::npos;
}

/// Returns the options that `name` may mean: the option of that name, or those that start with it. Options of strace
/// precede the others, so that the others do not make a beginning ambiguous.
std::vector<LongName> find_long(std::string_view name) {
  std::vector<LongName> found;
  for (const OptionRow& row : option_rows()) {
    for_each_long_name(row, [&](std::string_view candidate) {
      if (candidate.starts_with(name)) {
        found.push_back({&row, candidate});
      }
    });
  }
  const auto exact = std::find_if(found.begin(), found.end(), [&](const LongName& f) { return f.name == name; });
  if (exact != found.end()) {
    return {*exact};
  }
  std::stable_sort(found.begin(), found.end(), [](const LongName& a, const LongName& b) {
    return place_in_strace(a.name) < place_in_strace(b.name);
  });
  const auto ours = std::find_if(found.begin(), found.end(),
                                 [](const LongName& f) { return place_in_strace(f.name) == std::string_view::npos; });
  if (ours != found.begin()) {
    found.erase(ours, found.end());
  }
  // Other names of the same option are not ambiguous.
  if (!found.empty()) {
    const OptionRow* const first = found.front().row;
    found.erase(std::remove_if(found.begin() + 1, found.end(), [&](const LongName& f) { return f.row == first; }),
                found.end());
  }
  return found;
}

std::string suggestion_for(std::string_view name) {
  NearMiss miss(name);
  for (const OptionRow& row : option_rows()) {
    for_each_long_name(row, [&](std::string_view candidate) { miss.consider(candidate); });
  }
  return miss.best().empty() ? std::string{} : "; did you mean --" + std::string(miss.best()) + "?";
}

}  // namespace

std::span<const OptionRow> option_rows() {
  return table;
}

std::string_view heading_of(OptionGroup group) {
  return headings[static_cast<std::size_t>(group)];
}

std::string what_it_takes(const OptionRow& row) {
  const bool is_choice = row.placeholder.find('|') != std::string_view::npos;
  return is_choice ? "; it takes " + std::string(row.placeholder) : std::string();
}

const OptionRow* find_qualifier(std::string_view qualifier) {
  for (const OptionRow& row : option_rows()) {
    bool found = false;
    for_each_word(row.qualifiers, [&](std::string_view name) { found = found || name == qualifier; });
    if (found) {
      return &row;
    }
  }
  return nullptr;
}

std::string OptionReader::take_word() {
  std::string word = words_.front();
  words_ = words_.subspan(1);
  return word;
}

OptionReader::Next OptionReader::next() {
  if (!bundle_.empty()) {
    return next_short();
  }
  if (words_.empty()) {
    return std::monostate{};
  }
  const std::string& word = words_.front();
  if (word.size() < 2 || word[0] != '-') {
    return std::monostate{};
  }
  if (word == "--") {
    words_ = words_.subspan(1);
    return std::monostate{};
  }
  if (word[1] == '-') {
    return next_long();
  }
  bundle_ = std::string_view(word).substr(1);
  words_ = words_.subspan(1);
  return next_short();
}

OptionReader::Next OptionReader::next_short() {
  const char letter = bundle_.front();
  bundle_.remove_prefix(1);
  const auto rows = option_rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const OptionRow& r) { return r.letter == letter; });
  if (row == rows.end() || letter == '\0') {
    return BadWord{std::string("invalid option -- '") + letter + "'", {}};
  }
  GivenOption given{&*row, false, std::string("-") + letter, std::nullopt};
  if (row->form == ArgumentForm::required) {
    if (!bundle_.empty()) {
      given.argument = std::string(bundle_);
      bundle_ = {};
    } else if (!words_.empty()) {
      given.argument = take_word();
    } else {
      return BadWord{std::string("option requires an argument -- '") + letter + "'", {}};
    }
  }
  return given;
}

OptionReader::Next OptionReader::next_long() {
  const std::string word = take_word();
  const auto equals = word.find('=');
  const auto name = std::string_view(word).substr(2, equals == std::string::npos ? equals : equals - 2);
  const auto found = find_long(name);
  if (found.empty()) {
    return BadWord{"unrecognized option '" + word + "'", suggestion_for(name)};
  }
  if (found.size() > 1) {
    BadWord bad{"option '" + word + "' is ambiguous; possibilities:", {}};
    for (const LongName& possible : found) {
      bad.message += " '--" + std::string(possible.name) + "'";
    }
    return bad;
  }
  const OptionRow& row = *found.front().row;
  GivenOption given{&row, true, "--" + std::string(found.front().name), std::nullopt};
  if (equals != std::string::npos) {
    if (row.form == ArgumentForm::none) {
      return BadWord{"option '" + given.as_written + "' doesn't allow an argument", {}};
    }
    given.argument = word.substr(equals + 1);
  } else if (row.form == ArgumentForm::required) {
    if (words_.empty()) {
      return BadWord{"option '" + given.as_written + "' requires an argument", {}};
    }
    given.argument = take_word();
  }
  return given;
}

}  // namespace tracer::cli
