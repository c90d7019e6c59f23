// The rows of options.def, and the parser of argv that uses them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tracer::cli {

enum class OptionId : std::uint8_t {
#define OPTION(id, letter, long_name, form, placeholder, other_names, qualifiers, help, manual) id,
#include "cli/options.def"
};

enum class OptionGroup : std::uint8_t {
#define GROUP(id, heading) id,
#include "cli/options.def"
};

enum class ArgumentForm : std::uint8_t { none, required, optional };

struct OptionRow {
  OptionId id;
  OptionGroup group;
  char letter;  ///< 0: none
  std::string_view long_name;
  ArgumentForm form;
  std::string_view placeholder;
  std::string_view other_names;  ///< separated by blanks
  std::string_view qualifiers;   ///< names after -e, separated by blanks
  std::string_view help;
  std::string_view manual;
};

[[nodiscard]] std::span<const OptionRow> option_rows();
[[nodiscard]] std::string_view heading_of(OptionGroup group);

/// Returns `; it takes A|B` if the option takes one of a few words; else nothing.
[[nodiscard]] std::string what_it_takes(const OptionRow& row);

/// Returns the option that `QUALIFIER=` after -e stands for, or null.
[[nodiscard]] const OptionRow* find_qualifier(std::string_view qualifier);

/// An option of the command line.
struct GivenOption {
  const OptionRow* row = nullptr;
  bool is_long = false;
  std::string as_written;  ///< "-s" or "--string-limit"; a unique prefix is completed
  std::optional<std::string> argument;
};

/// The error of a word that cannot be parsed.
struct BadWord {
  std::string message;     ///< the text of getopt_long(3) in glibc, without the program's name
  std::string suggestion;  ///< `; did you mean X?`, or nothing
};

/// Parses options from left to right, up to `--` or the first word that is not an option.
class OptionReader {
 public:
  explicit OptionReader(std::span<const std::string> words) : words_(words) {}

  /// Returns the next option; monostate: there is no more.
  [[nodiscard]] std::variant<std::monostate, GivenOption, BadWord> next();
  /// Returns the words that next() has left: the command.
  [[nodiscard]] std::span<const std::string> rest() const { return words_; }

 private:
  using Next = std::variant<std::monostate, GivenOption, BadWord>;
  Next next_short();
  Next next_long();
  std::string take_word();

  std::span<const std::string> words_;
  std::string_view bundle_;  // the letters of the first word that are still to be parsed
};

}  // namespace tracer::cli
