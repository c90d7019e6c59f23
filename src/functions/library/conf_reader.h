// Parses one item of an ltrace prototype file (ltrace.conf(5)). For src/library only.
#pragma once

#include <fmt/core.h>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "functions/library/ltrace_conf.h"

namespace tracer::functions::library {

inline constexpr unsigned max_conf_parameters = 256;
inline constexpr unsigned max_conf_fields = 64;

/// Whether an array length in `text` refers to an argument (`[a9`) or a field (`[e9`) with a number above `known`.
bool mentions_more_than(std::string_view text, char kind, unsigned known);

class ConfReader {
 public:
  ConfReader(LtraceConf& conf, LtraceConf::Scope& scope, std::string_view line)
      : conf_(conf), scope_(scope), rest_(line) {}

  /// Adds the item to the LtraceConf. Returns an error message, or an empty string on success.
  std::string read();

 private:
  using Lens = LtraceConf::Lens;
  using Found = std::optional<Lens>;

  void skip_blanks();
  bool take(char c);
  std::string_view word();
  /// Takes what must come next; false: there is something else, which is the error.
  bool expect(char c);
  bool is_at(char c);
  bool expect_end_of_list();
  std::string_view identifier();  ///< empty: there is none, which is the error
  /// Both set the error, unless there is one; fail() adds what comes next in the line.
  std::nullopt_t fail(std::string_view what);
  std::nullopt_t refuse(std::string what);
  [[nodiscard]] std::string declared_name(std::string_view kind) const {
    return fmt::format("ltrace_{}_{}", kind, conf_.declared_);
  }

  std::string read_import();
  std::string read_typedef();
  std::string read_prototype(std::string_view first);
  Found lens(unsigned depth);
  Found lens_of(std::string_view name, unsigned depth);
  Found structure(std::string_view name, unsigned depth);
  Found array(unsigned depth);
  Found string(std::string_view digits, unsigned depth);
  Found enumeration(unsigned depth);
  Found styled(std::string_view style, unsigned depth);
  std::optional<std::string> expression(bool& ends_at_zero);
  std::optional<std::int64_t> integer();
  std::optional<std::vector<Lens>> list(unsigned max_count, unsigned depth);
  static Lens plain(std::string text, std::string_view characters = {});
  static Lens pointer_to(const Lens& target);
  Found wide_string(const Lens& inner);
  /// Declares what has another name in descriptions, and returns that.
  std::string declare_type(const std::string& shown_as);
  void declare_structure(const std::string& name, std::vector<Lens> fields);
  /// `depth`: how many structures are around the type.
  Lens restyled_lens(Lens lens, std::string_view style, unsigned depth);
  std::string restyled(const std::string& type, std::string_view style, unsigned depth);
  std::string restyled_structure(const std::string& name, std::string_view style, unsigned depth);
  Lens bits_of(const Lens& inner);
  static Lens bytes_of(const Lens& array, std::string_view style);

  LtraceConf& conf_;
  LtraceConf::Scope& scope_;
  std::string_view rest_;
  std::string error_;
  bool in_struct_ = false;
  std::map<std::pair<std::string, std::string>, std::string> copies_;  ///< of structures, by name and style
};

}  // namespace tracer::functions::library
