#include "sysc/token_stream.h"

#include <fmt/core.h>

#include <limits>

namespace tracer::sysc {

const Token& TokenStream::take() {
  const Token& token = peek();
  if (token.kind != TokenKind::end) {
    ++here_;
  }
  return token;
}

bool TokenStream::accept(std::string_view text) {
  if (!at(text)) {
    return false;
  }
  take();
  return true;
}

bool TokenStream::accept_word(std::string_view word) {
  return at_word(word) && accept(word);
}

void TokenStream::expect(std::string_view text) {
  if (!accept(text)) {
    unexpected("'" + std::string(text) + "'", {text});
  }
}

ast::Name TokenStream::expect_name(std::string_view what) {
  if (!at_kind(TokenKind::name)) {
    unexpected(what);
  }
  const Token& token = take();
  return {std::string(token.text), token.at};
}

std::uint64_t TokenStream::expect_number(std::string_view what) {
  if (!at_kind(TokenKind::number)) {
    unexpected(what);
  }
  return take().value;
}

std::uint32_t TokenStream::expect_u32(std::string_view what) {
  const Position start = position();
  const auto number = expect_number(what);
  if (number > std::numeric_limits<std::uint32_t>::max()) {
    fail(start, fmt::format("found {}, expected a number of up to 32 bits", number));
  }
  return static_cast<std::uint32_t>(number);
}

std::string TokenStream::expect_string(std::string_view what) {
  if (!at_kind(TokenKind::string)) {
    unexpected(what);
  }
  return std::string(take().contents());
}

void TokenStream::unexpected(std::string_view what, std::initializer_list<std::string_view> choices) {
  const Token& found = peek();
  std::string message = "found ";
  switch (found.kind) {
    case TokenKind::end:
      message += "the end of the file";
      break;
    case TokenKind::symbol:
      message += "'" + std::string(found.text) + "'";
      break;
    default:
      message += found.text;
  }
  message += ", expected " + std::string(what);
  if (found.kind == TokenKind::name) {
    NearMiss near(found.text);
    for (const auto choice : choices) {
      near.consider(choice);
    }
    message += near.suggestion();
  }
  fail(found.at, std::move(message));
}

void TokenStream::fail(Position at, std::string message) {
  diagnostics_.error(at, std::move(message));
  throw SyntaxError{};
}

void TokenStream::skip_to_item() {
  while (!at_end() && !(at_kind(TokenKind::name) && peek().at.column == 1)) {
    take();
  }
}

}  // namespace tracer::sysc
