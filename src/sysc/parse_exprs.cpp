#include <algorithm>
#include <utility>

#include "sysc/parse_types.h"

namespace tracer::sysc {

namespace {

using ast::BinaryOp;
using ast::boxed;
using ast::Expr;
using spec::ExprOp;

constexpr std::pair<std::string_view, ExprOp> reserved_words[] = {
    {"ret", ExprOp::ret}, {"ok", ExprOp::ok},          {"rest", ExprOp::rest}, {"word", ExprOp::word},
    {"nth", ExprOp::nth}, {"all", ExprOp::everything}, {"it", ExprOp::it}};

struct Function {
  std::string_view word;
  ExprOp op;
  bool takes_two;
};
constexpr Function functions[] = {
    {"align", ExprOp::align, true}, {"min", ExprOp::minimum, true}, {"sibling", ExprOp::sibling, false}};

struct Operator {
  std::string_view text;
  BinaryOp op;
  int binding;
};
constexpr int comparison = 0;
constexpr int bit_or = 1;
constexpr int tightest = 5;
constexpr Operator operators[] = {{"==", BinaryOp::equal, comparison},
                                  {"!=", BinaryOp::not_equal, comparison},
                                  {"<", BinaryOp::less, comparison},
                                  {">", BinaryOp::greater, comparison},
                                  {"|", BinaryOp::bit_or, 1},
                                  {"&", BinaryOp::bit_and, 2},
                                  {"<<", BinaryOp::shift_left, 3},
                                  {">>", BinaryOp::shift_right, 3},
                                  {"+", BinaryOp::add, 4},
                                  {"-", BinaryOp::subtract, 4},
                                  {"*", BinaryOp::multiply, tightest},
                                  {"/", BinaryOp::divide, tightest}};

/// Parses a name that is one of a few, and returns its place among them.
template <std::size_t N>
spec::Index parse_one_of(TokenStream& in, const std::array<std::string_view, N>& names, const char* what) {
  const Position at = in.position();
  const auto name = in.expect_name(what).text;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    NearMiss near(name);
    std::for_each(names.begin(), names.end(), [&](std::string_view candidate) { near.consider(candidate); });
    in.fail(at, "found " + name + ", expected " + what + near.suggestion());
  }
  return static_cast<spec::Index>(found - names.begin());
}

/// Parses what follows `option` or `lookup`.
Expr parse_outside(TokenStream& in, Position at, bool is_option) {
  in.expect("(");
  if (is_option) {
    const auto which = parse_one_of(in, spec::option_names, "the name of an option");
    in.expect(")");
    return {at, ast::Reserved{ExprOp::option, which}};
  }
  const auto which = parse_one_of(in, spec::lookup_names, "what to look up");
  in.expect(",");
  ast::Applied applied{ExprOp::lookup, boxed(parse_expr(in)), nullptr, which};
  in.expect(")");
  return {at, std::move(applied)};
}

Expr parse_primary(TokenStream& in) {
  const Position at = in.position();
  if (in.at_kind(TokenKind::number)) {
    return {at, ast::Literal{static_cast<std::int64_t>(in.take().value)}};
  }
  if (in.accept("-")) {
    return {at, ast::Literal{static_cast<std::int64_t>(0 - in.expect_number("a number"))}};
  }
  if (in.accept("(")) {
    Expr inner = parse_expr(in);
    in.expect(")");
    return inner;
  }
  if (in.accept("*")) {
    return {at, ast::Dereference{in.expect_name("the name of a pointer").text}};
  }
  if (in.accept("^")) {
    return {at, ast::Outer{in.expect_name("the name of a parameter or field outside").text}};
  }
  if (!in.at_kind(TokenKind::name)) {
    in.unexpected("a name or a number");
  }
  for (const auto& [word, op] : reserved_words) {
    if (in.accept(word)) {
      return {at, ast::Reserved{op, spec::none}};
    }
  }
  if (in.peek(1).is("(") && (in.at("option") || in.at("lookup"))) {
    const bool is_option = in.take().is("option");
    return parse_outside(in, at, is_option);
  }
  for (const auto& [word, op, takes_two] : functions) {
    if (in.at(word) && in.peek(1).is("(")) {
      in.take();
      in.take();
      ast::Applied applied{op, boxed(parse_expr(in)), nullptr, spec::none};
      if (takes_two) {
        in.expect(",");
        applied.second = boxed(parse_expr(in));
      }
      in.expect(")");
      return {at, std::move(applied)};
    }
  }
  ast::Reference reference{in.expect_name("a name").text, {}};
  if (in.accept(".")) {
    reference.member = in.expect_name("the name of a member").text;
  }
  return {at, std::move(reference)};
}

const Operator* operator_here(const TokenStream& in, int binding) {
  for (const auto& candidate : operators) {
    if (candidate.binding == binding && in.at(candidate.text)) {
      return &candidate;
    }
  }
  return nullptr;
}

Expr parse_binary(TokenStream& in, int binding) {
  if (binding > tightest) {
    return parse_primary(in);
  }
  constexpr unsigned max_operators = 1000;  // in a row: whoever walks the tree goes as deep
  Expr left = parse_binary(in, binding + 1);
  unsigned operators_here = 0;
  while (const Operator* found = operator_here(in, binding)) {
    const Position at = in.take().at;
    if (++operators_here > max_operators) {
      in.fail(at, "found more than 1000 operators in a row");
    }
    Expr right = parse_binary(in, binding + 1);
    left = {at, ast::Binary{found->op, boxed(std::move(left)), boxed(std::move(right))}};
    if (binding == comparison && operator_here(in, comparison) != nullptr) {
      in.unexpected("parentheses around one of the comparisons");
    }
  }
  return left;
}

std::int64_t evaluate(const Expr& expr, TokenStream& in) {
  if (const auto* literal = std::get_if<ast::Literal>(&expr.node)) {
    return literal->value;
  }
  if (const auto* binary = std::get_if<ast::Binary>(&expr.node)) {
    const auto left = static_cast<std::uint64_t>(evaluate(*binary->left, in));
    const auto right = static_cast<std::uint64_t>(evaluate(*binary->right, in));
    switch (binary->op) {
      case BinaryOp::bit_or:
        return static_cast<std::int64_t>(left | right);
      case BinaryOp::bit_and:
        return static_cast<std::int64_t>(left & right);
      case BinaryOp::shift_left:
        return static_cast<std::int64_t>(right < 64 ? left << right : 0);
      case BinaryOp::add:
        return static_cast<std::int64_t>(left + right);
      case BinaryOp::subtract:
        return static_cast<std::int64_t>(left - right);
      case BinaryOp::multiply:
        return static_cast<std::int64_t>(left * right);
      default:
        break;
    }
  }
  in.fail(expr.at, "found an expression, expected a value made of numbers");
}

struct AbiGroup {
  std::string_view name;
  AbiMask mask;
};
constexpr AbiMask bits(std::initializer_list<Abi> abis) {
  AbiMask mask = 0;
  for (const auto abi : abis) {
    mask = static_cast<AbiMask>(mask | mask_of(abi));
  }
  return mask;
}
constexpr AbiGroup abi_groups[] = {{"x86_64", bits({Abi::x86_64})},
                                   {"i386", bits({Abi::i386})},
                                   {"x32", bits({Abi::x32})},
                                   {"aarch64", bits({Abi::aarch64})},
                                   {"arm32", bits({Abi::arm})},
                                   {"arm", bits({Abi::aarch64, Abi::arm})},
                                   {"x86", bits({Abi::x86_64, Abi::i386, Abi::x32})},
                                   {"64", bits({Abi::x86_64, Abi::aarch64})},
                                   {"32", bits({Abi::i386, Abi::arm})}};

AbiMask parse_abi(TokenStream& in) {
  for (const auto& group : abi_groups) {
    if (in.peek().text == group.name) {
      in.take();
      return group.mask;
    }
  }
  in.unexpected("an ABI (x86_64, i386, x32, aarch64, arm32, or x86, arm, 64, 32)",
                {"x86_64", "i386", "x32", "aarch64", "arm32", "x86", "arm"});
}

}  // namespace

Expr parse_expr(TokenStream& in) {
  const TokenStream::Level level(in);
  return parse_binary(in, comparison);
}

std::int64_t parse_value(TokenStream& in) {
  return evaluate(parse_binary(in, bit_or), in);
}

std::int64_t parse_alternative(TokenStream& in) {
  return evaluate(parse_binary(in, bit_or + 1), in);
}

AbiMask parse_abis(TokenStream& in) {
  AbiMask mask = parse_abi(in);
  // A comma precedes another ABI or, in a list of values, the next value: a name or a number before an '@'.
  while (in.at(",") && (in.peek(1).kind == TokenKind::name || in.peek(1).text == "64" || in.peek(1).text == "32") &&
         !in.peek(2).is("@")) {
    in.take();
    mask = static_cast<AbiMask>(mask | parse_abi(in));
  }
  return mask;
}

std::array<std::optional<std::int64_t>, abi_count> parse_values(TokenStream& in) {
  std::array<std::optional<std::int64_t>, abi_count> values;
  std::optional<std::int64_t> other;
  do {
    const Position at = in.position();
    const auto value = parse_value(in);
    if (!in.accept("@")) {
      other = value;
      continue;
    }
    const AbiMask mask = parse_abis(in);
    for (std::size_t i = 0; i < abi_count; ++i) {
      if ((mask >> i & 1) != 0) {
        if (values[i]) {
          in.fail(at, "found a second value for " + std::string(abi_names[i]) + ", expected one for each ABI");
        }
        values[i] = value;
      }
    }
  } while (in.accept(","));
  for (auto& value : values) {
    value = value ? value : other;
  }
  return values;
}

}  // namespace tracer::sysc
