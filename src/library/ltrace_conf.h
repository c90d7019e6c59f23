// Converts ltrace prototype files (ltrace.conf(5)) to descriptions (tracer-sys(5)), so that one decoder serves both.
//
// The files are not trusted: an item with a syntax error is reported and left out, and no item can make the
// descriptions invalid.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::library {

class LtraceConf {
 public:
  /// Adds the items of a file. If a function has several prototypes, the first one counts; if a type has several
  /// definitions, the last one before its use.
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

  std::map<std::string, Lens, std::less<>> types_;
  std::map<std::string, std::string, std::less<>> functions_;  ///< line of the description, by name
  std::string items_;                                          ///< declared types
  std::set<std::string> undefined_;                            ///< structs that are declared but not defined
  unsigned declared_ = 0;
  std::vector<std::string> errors_;
};

}  // namespace tracer::library
