// Splits descriptions into tokens.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sysc/diagnostics.h"
#include "sysc/source.h"

namespace tracer::sysc {

enum class TokenKind : std::uint8_t { name, number, string, symbol, comment, end };

struct Token {
  TokenKind kind = TokenKind::end;
  Position at;
  std::string_view text;       ///< as written, with the quotes of strings and the `#` of comments
  std::uint64_t value = 0;     ///< the value of a number or of a character such as 'T'
  bool first_on_line = false;  ///< only blanks precede it on its line

  [[nodiscard]] bool is(std::string_view symbol_or_word) const {
    return (kind == TokenKind::symbol || kind == TokenKind::name) && text == symbol_or_word;
  }
  /// Returns a string without its quotes.
  [[nodiscard]] std::string_view contents() const { return text.substr(1, text.size() - 2); }
};

/// Returns the tokens of a source, in order; the last is of kind `end`. They refer to the source's text.
/// `keep_comments`: comments are tokens.
std::vector<Token> tokenize(const Source& source, std::uint32_t file, Diagnostics& diagnostics,
                            bool keep_comments = false);

}  // namespace tracer::sysc
