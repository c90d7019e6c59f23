// Which functions are traced: ltrace's filter expressions.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "library/static_probes.h"

namespace tracer::library {

/// A module as filters see it.
struct ModuleName {
  std::string_view soname;  ///< or the file's own name where there is none
  std::string_view path;
  bool is_program = false;  ///< MAIN
};

/// A function's name as people write it.
using Demangler = std::function<std::string(std::string_view)>;

/// A name as people write it, without the parameters at its end.
std::string without_parameters(std::string name);

/// `{[+-][SYMBOL][@MODULE]}`: rules from left to right, of which the last that matches wins; a first `-` (or `!`) takes
/// away from everything. Both sides are globs for the whole name or, between slashes, basic regular expressions; a
/// missing one matches all. MODULE is a soname, MAIN, or a path if it begins with a slash.
class SymbolFilter {
 public:
  /// Adds a whole expression; a function that any of them chooses is chosen. EINVAL for one that cannot be read.
  Status add(std::string_view expression);

  /// Names of C++ and Rust match as they are and as `demangler` writes them, with and without their parameters.
  void use_demangler(Demangler demangler) { demangler_ = std::move(demangler); }

  [[nodiscard]] bool empty() const { return alternatives_.empty(); }
  [[nodiscard]] bool matches(std::string_view symbol, const ModuleName& module) const;
  /// Whether any symbol of the module may match.
  [[nodiscard]] bool concerns(const ModuleName& module) const;
  /// Whether it is said which modules are meant, and this is one.
  [[nodiscard]] bool names(const ModuleName& module) const;

 private:
  struct Pattern {
    std::string text;
    bool is_expression = false;  ///< a regular expression, as against a glob
    [[nodiscard]] bool matches(std::string_view name) const;
  };
  struct Rule {
    bool adds = true;
    Pattern symbol;
    Pattern module;
    [[nodiscard]] bool matches_module(const ModuleName& name) const;
  };
  static Result<Pattern> read_pattern(std::string_view& text, std::string_view ends);

  std::vector<std::vector<Rule>> alternatives_;
  Demangler demangler_;
};

/// The functions whose calls are traced.
struct LibrarySelection {
  SymbolFilter calls;    ///< by the module that calls: through its linkage table, or a pointer that the loader gave it
  SymbolFilter entries;  ///< by the module that defines them, whoever calls
  SymbolFilter exports;  ///< by the module that defines them, if another one calls
  std::vector<ProbePattern> probes;
  Demangler demangler;  ///< for what functions are called in labels; may be empty
  [[nodiscard]] bool empty() const { return calls.empty() && entries.empty() && exports.empty() && probes.empty(); }
};

}  // namespace tracer::library
