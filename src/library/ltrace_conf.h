// Prototype files of ltrace (ltrace.conf(5)), made into descriptions (tracer-sys(5)): one decoder understands both.
//
// A file is the user's, but may come from anywhere: what is no item of the language is left out and told, and no item
// can make the descriptions wrong.
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
  /// Takes over the items of a file. Of several prototypes for one function, the first counts; of several types of one
  /// name, the last before its use.
  void read(std::string_view text, std::string_view path);

  [[nodiscard]] bool empty() const { return functions_.empty(); }
  /// One file of descriptions with all of it, in a library that stands for any: `*`.
  [[nodiscard]] std::string descriptions() const;
  /// `PATH:LINE: error: …`, a line each.
  [[nodiscard]] const std::vector<std::string>& errors() const { return errors_; }

 private:
  friend class ConfReader;

  /// How a type is written in a description, and what may be done with it.
  struct Lens {
    std::string text;  ///< empty: void
    bool is_scalar = false;
    bool is_struct = false;
    bool is_char = false;  ///< one byte that is a character
    bool is_hidden = false;
    bool is_format = false;
    std::string element;  ///< of an array: what it has …
    std::string length;   ///< … and how much of it; empty: no array
    bool element_is_char = false;
    bool ends_at_zero = false;  ///< an array's length is the most that it has
    unsigned element_size = 0;  ///< bytes; 0: a word, or unknown
    bool element_is_word = false;
    std::string target;  ///< of a pointer: what `text` has behind its star; empty: none
  };

  std::map<std::string, Lens, std::less<>> types_;
  std::map<std::string, std::string, std::less<>> functions_;  ///< by name: its line in the library
  std::string items_;                                          ///< declared types
  std::set<std::string> undefined_;                            ///< structs that have a name only
  unsigned declared_ = 0;
  std::vector<std::string> errors_;
};

}  // namespace tracer::library
