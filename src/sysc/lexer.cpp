#include "sysc/lexer.h"

#include <array>
#include <cctype>
#include <string>

#include "base/number_text.h"
#include "base/printable.h"

namespace tracer::sysc {

namespace {

// Longer symbols come before their prefixes.
constexpr std::array<std::string_view, 7> long_symbols = {"->", "==", "!=", "<<", ">>", "%%", ".."};
constexpr std::string_view short_symbols = "(){}[]:,=*/&|<>+-^@%?.";

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

class Lexer {
 public:
  Lexer(const Source& source, std::uint32_t file, Diagnostics& diagnostics)
      : text_(source.text), file_(file), diagnostics_(diagnostics) {}

  std::vector<Token> run(bool keep_comments) {
    std::vector<Token> tokens;
    tokens.reserve(text_.size() / 5);
    while (skip_blanks(), here_ < text_.size()) {
      const Token token = next();
      if (token.kind != TokenKind::end && (keep_comments || token.kind != TokenKind::comment)) {
        tokens.push_back(token);
      }
      fresh_line_ = false;
    }
    tokens.push_back(Token{TokenKind::end, position(here_), {}, 0, fresh_line_});
    return tokens;
  }

 private:
  [[nodiscard]] Position position(std::size_t at) const {
    return {file_, line_, static_cast<std::uint32_t>(at - line_start_ + 1)};
  }

  void skip_blanks() {
    for (; here_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[here_])) != 0; ++here_) {
      if (text_[here_] == '\n') {
        ++line_;
        line_start_ = here_ + 1;
        fresh_line_ = true;
      }
    }
  }

  Token take(TokenKind kind, std::size_t length, std::uint64_t value = 0) {
    const Token token{kind, position(here_), text_.substr(here_, length), value, fresh_line_};
    here_ += length;
    return token;
  }

  template <typename Predicate>
  [[nodiscard]] std::size_t run_length(Predicate part) const {
    std::size_t length = 1;
    while (here_ + length < text_.size() && part(text_[here_ + length])) {
      ++length;
    }
    return length;
  }

  /// Returns a token of kind `end` for invalid text, which has been reported.
  Token next() {
    const char c = text_[here_];
    if (c == '#') {
      auto length = run_length([](char part) { return part != '\n'; });
      while (length > 1 && std::isspace(static_cast<unsigned char>(text_[here_ + length - 1])) != 0) {
        --length;
      }
      return take(TokenKind::comment, length);
    }
    if (is_name_start(c)) {
      return take(TokenKind::name, run_length(is_name_part));
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      return number();
    }
    if (c == '"') {
      return string();
    }
    if (c == '\'') {
      return character();
    }
    for (const auto symbol : long_symbols) {
      if (text_.substr(here_, symbol.size()) == symbol) {
        return take(TokenKind::symbol, symbol.size());
      }
    }
    if (short_symbols.find(c) != std::string_view::npos) {
      return take(TokenKind::symbol, 1);
    }
    return bad(1, "found '" + std::string(1, c) + "', which begins no token");
  }

  Token bad(std::size_t length, std::string message) {
    diagnostics_.error(position(here_), std::move(message));
    return take(TokenKind::end, length);
  }

  Token number() {
    const auto length = run_length(is_name_part);
    auto digits = text_.substr(here_, length);
    int base = 10;
    if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'o')) {
      base = digits[1] == 'x' ? 16 : 8;
      digits.remove_prefix(2);
    } else if (digits.size() > 1 && digits[0] == '0') {
      return bad(length, "found " + std::string(digits) + ", expected a number; octal is written 0o" +
                             std::string(digits.substr(1)));
    }
    const auto value = whole_number<std::uint64_t>(digits, base);
    if (!value) {
      return bad(length, "found " + std::string(text_.substr(here_, length)) + ", expected a number of up to 64 bits");
    }
    return take(TokenKind::number, length, *value);
  }

  Token string() {
    const auto length = run_length([](char part) { return part != '"' && part != '\n'; });
    if (here_ + length >= text_.size() || text_[here_ + length] != '"') {
      return bad(length, "found the end of the line, expected the '\"' that closes the string");
    }
    if (!is_printable(text_.substr(here_, length))) {
      return bad(length + 1, "found a string with a character that is not printable");
    }
    return take(TokenKind::string, length + 1);
  }

  Token character() {
    if (here_ + 2 >= text_.size() || text_[here_ + 2] != '\'') {
      return bad(1, "found ''', expected one character in quotes, as 'T'");
    }
    return take(TokenKind::number, 3, static_cast<unsigned char>(text_[here_ + 1]));
  }

  std::string_view text_;
  std::uint32_t file_;
  Diagnostics& diagnostics_;
  std::size_t here_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  bool fresh_line_ = true;
};

}  // namespace

std::vector<Token> tokenize(const Source& source, std::uint32_t file, Diagnostics& diagnostics, bool keep_comments) {
  return Lexer(source, file, diagnostics).run(keep_comments);
}

}  // namespace tracer::sysc
