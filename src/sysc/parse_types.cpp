#include "sysc/parse_types.h"

#include <deque>

#include "spec/brief.h"
#include "sysc/btf_names.h"

namespace tracer::sysc {

namespace {

using ast::Box;
using ast::boxed;
using ast::Type;
using spec::Direction;
using spec::LengthKind;

template <typename Node>
Type type_at(Position at, Node node) {
  Type type;
  type.at = at;
  type.node = std::move(node);
  return type;
}

/// Parses the `until 0` that ends an array.
void parse_until_zero(TokenStream& in, ast::Length& length) {
  if (in.expect_number("0") != 0) {
    in.fail(length.at, "found another number, expected [until 0]");
  }
  length.kind = LengthKind::until_zero;
}

/// Parses `[n]`, `[n bytes]`, `[n max 32]`, `[n of total]`, `[until 0]` or `[n until 0]`.
ast::Length parse_length(TokenStream& in) {
  ast::Length length;
  length.at = in.position();
  in.expect("[");
  if (in.accept("until")) {
    parse_until_zero(in, length);
  } else {
    length.kind = LengthKind::count;
    length.count = boxed(parse_expr(in));
    if (in.accept("bytes")) {
      length.kind = LengthKind::byte_count;
    } else if (in.accept("until")) {
      parse_until_zero(in, length);
    }
    if (in.accept("of")) {
      length.budget = boxed(parse_expr(in));
    }
  }
  if (in.accept("max")) {
    length.max = in.expect_u32("a number");
  }
  if (!in.at("]")) {
    in.unexpected("']'", {"bytes", "max", "of"});
  }
  in.take();
  return length;
}

Type parse_base(TokenStream& in) {
  const Position at = in.position();
  const auto plain = [&](auto node) { return type_at(at, std::move(node)); };
  if (in.accept("(")) {
    Type inner = parse_type(in);
    in.expect(")");
    return inner;
  }
  const ast::Name name = in.expect_name("a type");
  if (name.text == "struct" && in.at_kind(TokenKind::name)) {
    const std::string structure = btf_prefix + in.expect_name("the name of a structure").text;
    in.expect("from");
    in.expect("btf");
    return plain(ast::Named{structure, {}, {}});
  }
  if (name.text == "bytes" || name.text == "hexbytes") {
    if (!in.at("[")) {
      in.unexpected("'[' and how many");
    }
    return plain(ast::Bytes{parse_length(in), name.text == "hexbytes", {}});
  }
  if (name.text == "cstr") {
    return plain(ast::Text{in.at("[") ? std::optional(parse_length(in)) : std::nullopt});
  }
  if (name.text == "custom") {
    ast::Custom custom{in.expect_name("the name of a decoder"), nullptr};
    if (in.accept(":")) {
      custom.memory = std::make_unique<Type>(parse_type(in));
    }
    return plain(std::move(custom));
  }
  ast::Named named{name.text, {}, {}};
  if (in.accept(".")) {
    named.member = in.expect_name("the name of a member").text;
  }
  // `(` after a blank starts the parameters of a row, as in `A: x` or `-> fd` before them.
  if (in.at("(")) {
    in.take();
    do {
      named.args.push_back(parse_expr(in));
    } while (in.accept(","));
    in.expect(")");
  }
  return plain(std::move(named));
}

void parse_brief(TokenStream& in, Type& type) {
  in.take();
  const Position at = in.position();
  std::string text;
  if (in.at_word("all")) {
    in.take();
    text = spec::brief_all;
  } else {
    text = in.expect_string("a string such as \"vars\"");
    text = text.empty() ? std::string(spec::brief_none) : text;
  }
  if (auto* array = std::get_if<ast::Array>(&type.node)) {
    array->brief = std::move(text);
  } else if (auto* bytes = std::get_if<ast::Bytes>(&type.node)) {
    bytes->brief = std::move(text);
  } else {
    in.fail(at, "found 'brief' after something that is no array, expected it after T[…]");
  }
}

ast::ShowPart parse_show_part(TokenStream& in) {
  ast::ShowPart part;
  if (in.at_kind(TokenKind::string)) {
    part.text = in.expect_string("a string");
    return part;
  }
  part.value = boxed(parse_expr(in));
  const Position at = in.position();
  if (in.accept(":")) {
    part.type = std::make_unique<Type>(parse_base(in));
  } else {
    part.type = std::make_unique<Type>(type_at(at, ast::Named{"u64", {}, {}}));
  }
  if (in.accept_word("as")) {
    part.type->style = in.expect_name("the name of a style");
  }
  part.styled = in.accept_word("styled");
  return part;
}

/// Parses a type and its suffixes: arrays, `as STYLE`, `: width`, `wide`, `brief`, `indexed`, `show`.
Type parse_with_suffixes(TokenStream& in) {
  Type type = parse_base(in);
  std::optional<ast::Name> style;
  std::deque<TokenStream::Level> levels;
  for (;;) {
    if (in.at("[")) {
      levels.emplace_back(in);
      const Position at = type.at;
      ast::Array array{std::make_unique<Type>(std::move(type)), parse_length(in), {}, {}};
      type = type_at(at, std::move(array));
    } else if (in.accept_word("as")) {
      style = in.expect_name("the name of a style");
    } else if (in.accept_word("of")) {
      type.owner = in.expect_name("the name of a parameter");
    } else if (in.at(":")) {
      in.take();
      type.width = in.expect_name("a scalar type");
    } else if (in.at_word("bits") && in.peek(1).kind == TokenKind::number) {
      const Position at = in.take().at;
      const auto count = in.expect_number("how many");
      if (count == 0 || count > 64) {
        in.fail(at, "found a bit-field of no bits or more than 64");
      }
      type.bit_count = static_cast<std::uint8_t>(count);
    } else if (in.accept_word("wide")) {
      type.registers = Type::Registers::wide;
    } else if (in.accept_word("halves")) {
      type.registers = Type::Registers::halves;
    } else if (std::holds_alternative<ast::Array>(type.node) && in.accept_word("indexed")) {
      std::get<ast::Array>(type.node).indexes = in.expect_name("the name of an enum");
    } else if (in.at_word("show") && (in.peek(1).is("{") || in.peek(2).is("{"))) {
      in.take();
      type.show = parse_show(in);
    } else if (in.at_word("brief") && (in.peek(1).kind == TokenKind::string || in.peek(1).is("all"))) {
      parse_brief(in, type);
    } else {
      break;
    }
  }
  if (style) {
    Type* innermost = &type;
    while (auto* array = std::get_if<ast::Array>(&innermost->node)) {
      innermost = array->element.get();
    }
    innermost->style = std::move(style);
  }
  return type;
}

}  // namespace

ast::Box<ast::Show> parse_show(TokenStream& in) {
  auto show = std::make_unique<ast::Show>();
  show->at = in.position();
  show->kind = in.accept_word("always")    ? spec::ShowKind::always
               : in.accept_word("comment") ? spec::ShowKind::comment
                                           : spec::ShowKind::name;
  in.expect("{");
  while (!in.accept("}")) {
    auto& group = show->groups.emplace_back();
    if (!in.accept_word("if")) {
      group.parts.push_back(parse_show_part(in));
      continue;
    }
    group.condition = boxed(parse_expr(in));
    in.expect("{");
    while (!in.accept("}")) {
      group.parts.push_back(parse_show_part(in));
    }
  }
  return show;
}

Type parse_type(TokenStream& in) {
  const TokenStream::Level level(in);
  const Position at = in.position();
  ast::Pointer pointer;
  const bool out = in.at("out");
  if ((out || in.at("inout")) && !in.peek(1).is(":")) {
    in.take();
    pointer.direction = out ? Direction::out : Direction::inout;
    if (!in.at("*")) {
      // `out path` reverses the direction of an alias of a pointer.
      Type target = parse_with_suffixes(in);
      in.fail(target.at, "found a type, expected '*' after '" + std::string(out ? "out" : "inout") + "'");
    }
  }
  if (!in.accept("*")) {
    return parse_with_suffixes(in);
  }
  if (in.at_kind(TokenKind::number)) {
    const Position width = in.position();
    if (in.take().value != 64) {
      in.fail(width, "found another width of a pointer, expected *64 or *");
    }
    pointer.wide = true;
  }
  pointer.target = std::make_unique<Type>(parse_type(in));
  if (in.at_word("sized")) {
    in.take();
    in.expect("by");
    pointer.sized_by = boxed(parse_expr(in));
  }
  return type_at(at, std::move(pointer));
}

}  // namespace tracer::sysc
