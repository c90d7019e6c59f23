// Selects the functions to trace with ltrace's filter expressions.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "functions/library/static_probes.h"

namespace tracer::functions::library {

/// The properties of a module that filters match.
struct ModuleName {
  std::string_view soname;  ///< or the name of the file if there is none
  std::string_view path;
  bool is_program = false;  ///< matches MAIN
};

/// Demangles a function's name.
using Demangler = std::function<std::string(std::string_view)>;

/// Removes the parameter list at the end of a demangled name.
std::string without_parameters(std::string name);

/// Removes the type of the result from the start of a demangled name without parameters.
std::string_view without_result(std::string_view name);
/// Returns such a name, without the type of the result, as people write it: without template arguments, ABI tags and,
/// in Rust, what else stands in angle brackets.
std::string without_templates(std::string_view name);

/// A filter `{[+-][SYMBOL][@MODULE]}` is a list of rules, of which the last that matches decides. If the first rule
/// starts with `-` (or `!`), the list starts with all functions; a sign alone selects them. SYMBOL and MODULE are globs
/// for the whole name or, between slashes, basic regular expressions (both: `/SYMBOL@MODULE/`); an omitted one matches
/// everything. MODULE matches the soname, MAIN, or the path if it starts with a slash; a `-` before its `.so` is part
/// of its name.
class SymbolFilter {
 public:
  /// Adds a filter. A function is selected if any filter selects it. Returns EINVAL for a syntax error.
  Status add(std::string_view expression);
  /// The same for all functions of the modules that this one MODULE matches, in which signs are part of the name.
  Status add_module(std::string_view module);

  /// Matches C++ and Rust names both mangled and demangled, with and without their parameters and template arguments.
  void use_demangler(Demangler demangler) { demangler_ = std::move(demangler); }

  [[nodiscard]] bool empty() const { return filters_.empty(); }
  [[nodiscard]] bool matches(std::string_view symbol, const ModuleName& module) const;
  /// Whether a symbol of this module may match.
  [[nodiscard]] bool concerns(const ModuleName& module) const;
  /// The rules that add functions, for messages.
  struct Wanted {
    std::string_view symbol;
    std::string_view module;
    std::string_view minus;      ///< what the first rule behind it takes away; empty: there is none
    bool is_expression = false;  ///< `symbol` is a regular expression
    bool has_matched = false;    ///< a symbol that matches() was asked about
  };
  [[nodiscard]] std::vector<Wanted> wanted() const;
  /// Whether a rule other than `@*` selects this module.
  [[nodiscard]] bool names(const ModuleName& module) const;

 private:
  struct Pattern {
    std::string text;
    bool is_expression = false;  ///< a regular expression; false for a glob
    [[nodiscard]] bool matches(std::string_view name) const;
  };
  struct Rule {
    bool adds = true;
    Pattern symbol;
    Pattern module;
    mutable bool has_matched = false;  ///< for messages alone
    [[nodiscard]] bool matches_module(const ModuleName& name) const;
  };
  static Result<Pattern> checked(Pattern pattern);
  static Status read_rule(std::string_view& text, Rule& rule);
  static bool is_half_open(const Pattern& module);
  static Result<bool> read_both(std::string_view& text, Rule& rule);
  static Result<Pattern> read_pattern(std::string_view& text, std::string_view ends);

  std::vector<std::vector<Rule>> filters_;
  Demangler demangler_;
};

/// Selects the functions whose calls are traced.
struct LibrarySelection {
  SymbolFilter calls;    ///< calls from matching modules through their PLT or a pointer that the dynamic linker has set
  SymbolFilter entries;  ///< functions that matching modules define, called from anywhere
  SymbolFilter exports;  ///< functions that matching modules define, called through a linkage table
  /// Calls of an entry's resolver (IFUNC) are reported as those of `NAME.IFUNC`, those of start-up code through stubs
  /// are not left out, and where the program starts there is no entry.
  bool as_ltrace = false;
  std::vector<ProbePattern> probes;
  Demangler demangler;  ///< for the names of functions in labels; may be empty
  [[nodiscard]] bool empty() const { return calls.empty() && entries.empty() && exports.empty() && probes.empty(); }
};

}  // namespace tracer::functions::library
