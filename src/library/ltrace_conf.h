// Converts ltrace prototype files (ltrace.conf(5)) to descriptions (tracer-sys(5)), so that one decoder serves both.
//
// The files are not trusted: an item with a syntax error is reported and left out, and no item can make the
// descriptions invalid.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::library {

class LtraceConf {
 public:
  struct File {
    std::string path;
    std::string text;
  };
  /// Finds what `import "NAME"` stands for.
  using Importer = std::function<std::optional<File>(std::string_view name)>;

  explicit LtraceConf(Importer importer = {}) : importer_(std::move(importer)) {}

  /// Adds the items of a file, unless it has been read. If a function has several prototypes, the first one counts; a
  /// type has one definition in a file and those that it imports, and in other files the last one before its use.
  void read(std::string_view text, std::string_view path);

  [[nodiscard]] bool empty() const { return functions_.empty(); }
  /// Returns the text of a description file. The functions are in the library `*`, which stands for any library.
  [[nodiscard]] std::string descriptions() const;
  /// Returns one line `PATH:LINE: error: …` for each error.
  [[nodiscard]] const std::vector<std::string>& errors() const { return errors_; }

 private:
  friend class ConfReader;

  /// A type or lens of ltrace, converted to a type of descriptions.
  struct Lens {
    std::string text;  ///< the type in a description; empty for void
    bool is_scalar = false;
    bool is_struct = false;
    bool is_char = false;  ///< `char`
    bool is_hidden = false;
    bool is_format = false;
    std::string element;  ///< element type of an array
    std::string length;   ///< length of an array; empty if it is not an array
    bool element_is_char = false;
    bool ends_at_zero = false;  ///< a zero ends the array; then `length` is its maximum
    unsigned element_size = 0;  ///< bytes; 0 for a word, or if unknown
    bool element_is_word = false;
    std::string target;  ///< target type of a pointer; empty if it is not a pointer
  };
  /// What a file defines and imports.
  struct Scope {
    std::set<std::string, std::less<>> types;
    std::vector<std::string> imports;  ///< paths
  };

  [[nodiscard]] bool defines(const Scope& scope, std::string_view type, unsigned depth) const;
  [[nodiscard]] bool imports(const Scope& scope, const Scope* other, unsigned depth) const;
  /// The first prototype of a function counts, but the importing file's before the imported one's.
  void add_function(const std::string& name, const Scope& scope, std::string description);
  /// Returns an error message, or an empty string on success.
  std::string import(std::string_view name, Scope& scope);

  Importer importer_;
  std::map<std::string, Scope, std::less<>> scopes_;  ///< by path
  unsigned open_imports_ = 0;
  std::map<std::string, Lens, std::less<>> types_;
  struct Function {
    std::string description;  ///< a line
    const Scope* scope = nullptr;
  };
  std::map<std::string, Function, std::less<>> functions_;  ///< by name
  std::string items_;                                       ///< declared types
  std::set<std::string> undefined_;                         ///< structs that are declared but not defined
  unsigned declared_ = 0;
  std::vector<std::string> errors_;
};

}  // namespace tracer::library
