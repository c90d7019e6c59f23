// The rows of options.def as data, and the reading of argv by them.
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

/// `; it takes A|B`, where an option takes one of a few words; else nothing.
[[nodiscard]] std::string what_it_takes(const OptionRow& row);

/// The option that `QUALIFIER=` after -e stands for, or nullptr.
[[nodiscard]] const OptionRow* find_qualifier(std::string_view qualifier);

/// An option as it stands on the command line.
struct GivenOption {
  const OptionRow* row = nullptr;
  bool is_long = false;
  std::string spelling;  ///< "-s" or "--string-limit": unique prefixes are completed
  std::optional<std::string> argument;
};

/// Why a word cannot be read.
struct BadWord {
  std::string message;     ///< as getopt_long(3) of glibc words it, without the program's name
  std::string suggestion;  ///< `; did you mean X?`, or nothing
};

/// Reads options from left to right, up to the first word that is none or past `--`.
class OptionReader {
 public:
  explicit OptionReader(std::span<const std::string> words) : words_(words) {}

  /// The next option; monostate: no more.
  [[nodiscard]] std::variant<std::monostate, GivenOption, BadWord> next();
  /// What next() has left: the command.
  [[nodiscard]] std::span<const std::string> rest() const { return words_; }

 private:
  using Next = std::variant<std::monostate, GivenOption, BadWord>;
  Next next_short();
  Next next_long();
  std::string take_word();

  std::span<const std::string> words_;
  std::string_view bundle_;  // letters that are left of the first word
};

}  // namespace tracer::cli
