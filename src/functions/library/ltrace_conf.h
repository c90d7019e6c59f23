// Converts ltrace prototype files (ltrace.conf(5)) to descriptions (tracer-sys(5)), so that one decoder serves both.
//
// The files are not trusted: an item with a syntax error is reported and left out, and no item can make the
// descriptions invalid.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::functions::library {

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
  /// `module`: the soname, or a soname without the numbers at its end, that the prototypes are for; empty: all modules.
  void read(std::string_view text, std::string_view path, std::string_view module = {});

  [[nodiscard]] bool empty() const { return function_count_ == 0; }
  /// Returns the text of a description file. The functions are in libraries with the names of spec/user_prototypes.h.
  [[nodiscard]] std::string descriptions() const;
  /// Returns one line `PATH:LINE: error: …` for each error, and `warning: …` for each warning.
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
    bool is_array = false;       ///< text in an array
    std::string characters;      ///< of text: the type in a description of the array that it is, for other lenses
    bool is_incomplete = false;  ///< an array of structures that were not defined yet
    std::uint64_t size = 8;      ///< in a structure or array, in bytes; at least what it really takes
    /// The type in a description of the array that `element` and `length` say.
    [[nodiscard]] std::string array_text() const;
    std::string target;  ///< target type of a pointer; empty if it is not a pointer
  };
  /// What a file defines and imports.
  struct Scope {
    std::set<std::string, std::less<>> types;
    std::vector<std::string> imports;                           ///< paths
    std::map<std::string, std::string, std::less<>> functions;  ///< a line of description, by name
  };
  /// A file that is read for its own sake, and the modules that it is for.
  struct Root {
    std::string library;
    const Scope* scope = nullptr;
  };
  using Libraries = std::map<std::string, std::set<std::string>>;  ///< names of libraries, by line of description

  /// Whether a structure in it has no definition yet, so that nothing can contain it.
  [[nodiscard]] bool is_incomplete(const Lens& lens) const {
    return lens.is_incomplete || undefined_.contains(lens.text);
  }
  [[nodiscard]] bool defines(const Scope& scope, std::string_view type, unsigned depth) const;
  /// Adds the functions of a file and of those that it imports to a library. The first prototype of a function counts,
  /// but the importing file's before the imported one's. `known`: names of functions of this library.
  void gather(const Scope& scope, const std::string& library, unsigned depth, std::set<std::string_view>& known,
              Libraries& into) const;
  const Scope& read_items(std::string_view text, std::string_view path);
  /// Returns an error message, or an empty string on success.
  std::string import(std::string_view name, Scope& scope);

  Importer importer_;
  std::map<std::string, Scope, std::less<>> scopes_;  ///< by path
  unsigned open_imports_ = 0;
  std::map<std::string, Lens, std::less<>> types_;
  std::map<std::string, std::vector<Lens>, std::less<>> fields_;  ///< of structures, by name in `items_`
  std::map<std::string, std::string, std::less<>> shown_as_;      ///< what other types in `items_` are
  std::size_t copied_fields_ = 0;                                 ///< by lenses over structures
  std::vector<Root> roots_;
  std::size_t function_count_ = 0;
  std::string items_;                ///< declared types
  std::set<std::string> undefined_;  ///< structs that are declared but not defined
  unsigned declared_ = 0;
  std::vector<std::string> warnings_;  ///< of the item that is being read: what is taken for something else
  std::vector<std::string> errors_;
};

}  // namespace tracer::functions::library
