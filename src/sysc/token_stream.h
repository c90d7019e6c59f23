// Reads tokens one after the other and reports those that are not expected.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sysc/ast.h"
#include "sysc/lexer.h"

namespace tracer::sysc {

/// Is thrown after a syntax error has been reported. The parser catches it and continues with the next item.
struct SyntaxError {};

class TokenStream {
 public:
  TokenStream(std::vector<Token> tokens, Diagnostics& diagnostics)
      : tokens_(std::move(tokens)), diagnostics_(diagnostics) {}

  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(here_ + ahead, tokens_.size() - 1)];
  }
  [[nodiscard]] bool at(std::string_view text) const { return peek().is(text); }
  [[nodiscard]] bool at_kind(TokenKind kind) const { return peek().kind == kind; }
  [[nodiscard]] bool at_end() const { return at_kind(TokenKind::end); }
  /// Returns whether the next token is this keyword and not the name of a field or constant (`out: u32`, `after = 3`).
  [[nodiscard]] bool at_word(std::string_view word) const { return at(word) && !peek(1).is(":") && !peek(1).is("="); }
  [[nodiscard]] Position position() const { return peek().at; }

  const Token& take();
  /// Takes the token if it is `text`.
  bool accept(std::string_view text);
  bool accept_word(std::string_view word);
  void expect(std::string_view text);
  ast::Name expect_name(std::string_view what);
  std::uint64_t expect_number(std::string_view what);
  /// A number of up to 32 bits.
  std::uint32_t expect_u32(std::string_view what);
  std::string expect_string(std::string_view what);

  /// Reports `found X, expected WHAT` and throws. `choices` are words to suggest a near miss from.
  [[noreturn]] void unexpected(std::string_view what, std::initializer_list<std::string_view> choices = {});
  [[noreturn]] void fail(Position at, std::string message);

  /// While one exists, the parser is one level deeper; reports nesting that is too deep and throws.
  class Level {
   public:
    explicit Level(TokenStream& in) : in_(in) {
      if (in_.depth_ == max_depth) {
        in_.fail(in_.position(), "found more than 100 levels of nesting");
      }
      ++in_.depth_;
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --in_.depth_; }

   private:
    static constexpr unsigned max_depth = 100;

    TokenStream& in_;
  };

  /// Skips to the next token that can start an item, a name in the first column.
  void skip_to_item();

 private:
  std::vector<Token> tokens_;
  Diagnostics& diagnostics_;
  std::size_t here_ = 0;
  unsigned depth_ = 0;  ///< how many levels there are
};

}  // namespace tracer::sysc
