#include "sysc/parse_items.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>

#include "sysc/parse_types.h"

namespace tracer::sysc {

namespace {

using ast::boxed;
using ast::Expr;
using spec::Direction;
using spec::StructKind;

ast::Alias parse_alias(TokenStream& in) {
  ast::Alias alias{in.expect_name("the name of the new type"), {}};
  in.expect("=");
  alias.type = parse_type(in);
  return alias;
}

/// Returns whether `1<<NAME=` or `1<<(NAME-1)=` starts here, which names the number of a bit.
bool at_named_bit(const TokenStream& in) {
  return in.at_kind(TokenKind::number) && in.peek().value == 1 && in.peek(1).is("<<") &&
         (in.peek(2).kind == TokenKind::name || in.peek(2).is("("));
}

/// Returns whether a member starts here: `NAME=`, `NAME|NAME=` (printed as several), `NAME<<4=`, `NAME+1=` or
/// `NAME-1=`.
bool at_member(const TokenStream& in) {
  constexpr std::array<std::string_view, 5> after_name = {"=", "|", "<<", "+", "-"};
  return at_named_bit(in) ||
         (in.at_kind(TokenKind::name) && std::any_of(after_name.begin(), after_name.end(),
                                                     [&](std::string_view symbol) { return in.peek(1).is(symbol); }));
}

ast::Member parse_named_bit(TokenStream& in) {
  in.take();
  in.expect("<<");
  const bool is_relative = in.accept("(");
  ast::Member member{in.expect_name("a constant"), {}};
  if (is_relative) {
    in.expect("-");
    member.name.text = fmt::format("({}-{})", member.name.text, in.expect_number("how much"));
    in.expect(")");
  }
  member.name.text = "1<<" + member.name.text;
  in.expect("=");
  const Position at = in.position();
  const auto bit = in.expect_number("the number of a bit");
  if (bit > 63) {
    in.fail(at, fmt::format("found {}, expected the number of a bit, 0 to 63", bit));
  }
  member.values.fill(static_cast<std::int64_t>(std::uint64_t{1} << bit));
  return member;
}

/// Takes `NAME`, `NAME|NAME`, `NAME<<4`, `NAME+1` or `NAME-1`.
ast::Name expect_constant_name(TokenStream& in) {
  auto name = in.expect_name("a constant");
  while (in.accept("|")) {
    name.text += "|" + in.expect_name("a constant").text;
  }
  for (const char* symbol : {"<<", "+", "-"}) {
    if (in.accept(symbol)) {
      name.text += symbol + std::to_string(in.expect_number("how much"));
    }
  }
  return name;
}

std::vector<ast::Member> parse_members(TokenStream& in) {
  std::vector<ast::Member> members;
  while (at_member(in)) {
    if (at_named_bit(in)) {
      members.push_back(parse_named_bit(in));
      continue;
    }
    ast::Member member{expect_constant_name(in), {}};
    in.expect("=");
    member.values = parse_values(in);
    if (in.accept_word("to")) {
      member.last = parse_value(in);
      if (in.accept_word("as")) {
        in.expect("hex");
        member.shows_hex_distance = true;
      }
    }
    members.push_back(std::move(member));
  }
  return members;
}

/// Parses the rest of a group after `mask`.
ast::Group parse_group(TokenStream& in) {
  ast::Group group;
  group.at = in.position();
  group.mask = static_cast<std::uint64_t>(parse_value(in));
  if (in.accept("shift")) {
    const Position at = in.position();
    const auto shift = in.expect_number("the number of a bit");
    if (shift > 63) {
      in.fail(at, fmt::format("found {}, expected the number of a bit, 0 to 63", shift));
    }
    group.shift = static_cast<std::uint8_t>(shift);
    group.label = in.expect_string("a label such as \"MAP_HUGE_SHIFT\"");
    group.apart = in.accept_word("apart");
    if (in.accept("{")) {
      group.members = parse_members(in);
      in.expect("}");
    }
    return group;
  }
  if (in.at_kind(TokenKind::string)) {
    group.unknown = in.expect_string("a string");
  }
  group.apart = in.accept("apart");
  in.expect("{");
  group.members = parse_members(in);
  if (!in.accept("}")) {
    in.unexpected("NAME=VALUE or '}'");
  }
  return group;
}

/// Returns whether a field starts here: `NAME:`, or `NAME.NAME:` with the name of the union that contains it.
bool at_field(const TokenStream& in) {
  return in.at_kind(TokenKind::name) &&
         (in.peek(1).is(":") || (in.peek(1).is(".") && in.peek(2).kind == TokenKind::name && in.peek(3).is(":")));
}

ast::Name expect_field_name(TokenStream& in) {
  ast::Name name = in.expect_name("a field");
  if (in.accept(".")) {
    name.text += "." + in.expect_name("a field").text;
  }
  return name;
}

ast::Field parse_field(TokenStream& in, std::uint32_t together) {
  ast::Field field;
  field.together = together;
  field.name = expect_field_name(in);
  in.expect(":");
  field.type = parse_type(in);
  for (;;) {
    if (in.accept_word("if")) {
      field.condition = boxed(parse_expr(in));
    } else if (in.accept_word("when")) {
      field.when = boxed(parse_expr(in));
    } else if (in.at_word("always")) {
      field.when = boxed({in.take().at, ast::Literal{1}});
    } else if (in.at_word("out") || in.at_word("inout")) {
      field.direction = in.take().text == "out" ? Direction::out : Direction::inout;
    } else if (in.accept_word("late")) {
      field.late = true;
    } else if (in.accept_word("inline")) {
      field.inlined = true;
    } else if (in.accept_word("at")) {
      field.offset = boxed(parse_expr(in));
    } else {
      return field;
    }
  }
}

void parse_fields(TokenStream& in, ast::Struct& structure) {
  std::uint32_t groups = 0;
  in.expect("{");
  while (!in.accept("}")) {
    if (in.at("together") && in.peek(1).is("{")) {
      in.take();
      in.take();
      ++groups;
      while (!in.accept("}")) {
        structure.fields.push_back(parse_field(in, groups));
      }
    } else if (at_field(in)) {
      structure.fields.push_back(parse_field(in, 0));
    } else if (structure.fields.empty()) {
      in.unexpected("NAME: TYPE or '}'");
    } else {
      in.unexpected(
          "NAME: TYPE, '}', or one of if, when, always, out, inout, late, inline, at, as, brief",
          {"if", "when", "always", "out", "inout", "late", "inline", "at", "as", "wide", "brief", "together"});
    }
  }
}

/// Parses `{ FIELD … }`.
std::vector<ast::Name> parse_field_names(TokenStream& in) {
  std::vector<ast::Name> names;
  in.expect("{");
  while (in.at_kind(TokenKind::name)) {
    names.push_back(expect_field_name(in));
  }
  if (!in.accept("}")) {
    in.unexpected("a field or '}'");
  }
  return names;
}

/// Parses how a structure shows: `show { … }`, `show brief { … }` and the like, behind its fields.
void parse_presentation(TokenStream& in, ast::Struct& structure) {
  while (in.at("show") && (in.peek(1).is("{") || in.peek(2).is("{"))) {
    in.take();
    if (in.at("{")) {
      structure.print = parse_field_names(in);
    } else if (in.at("brief") || in.at("part")) {
      structure.is_part = in.take().text == "part";
      structure.brief = parse_field_names(in);
    } else if (in.accept("short")) {
      structure.if_short = parse_field_names(in);
      if (in.at_kind(TokenKind::string)) {
        structure.short_end = in.expect_string("a text");
      }
    } else if (in.at("always") || in.at("comment")) {
      structure.show = parse_show(in);
    } else {
      in.unexpected("'{', or one of brief, part, short, always, comment",
                    {"brief", "part", "short", "always", "comment"});
    }
  }
}

}  // namespace

std::vector<ast::Name> parse_formal_params(TokenStream& in) {
  std::vector<ast::Name> params;
  if (in.accept("(")) {
    do {
      params.push_back(in.expect_name("the name of a parameter"));
    } while (in.accept(","));
    in.expect(")");
  }
  return params;
}

ast::Set parse_set(TokenStream& in, bool is_flags) {
  ast::Set set;
  set.is_flags = is_flags;
  set.name = in.expect_name("the name of the set");
  while (!in.at("{")) {
    if (in.accept(":")) {
      set.width = in.expect_name("a scalar type");
    } else if (in.at_kind(TokenKind::string)) {
      set.unknown = in.expect_string("a string");
    } else if (in.accept("as")) {
      set.style = in.expect_name("the name of a style");
    } else {
      in.unexpected("': TYPE', \"X_???\", 'as STYLE' or '{'");
    }
  }
  in.expect("{");
  ast::Group plain;
  plain.at = in.position();
  // Each run of plain members between masks is a group, so that the order is kept.
  const auto flush = [&] {
    if (!plain.members.empty()) {
      set.parts.emplace_back(std::move(plain));
      plain = {};
      plain.at = in.position();
    }
  };
  while (!in.accept("}")) {
    if (in.at("mask") && !in.peek(1).is("=")) {
      flush();
      in.take();
      set.parts.emplace_back(parse_group(in));
    } else if (in.at("include") && !in.peek(1).is("=")) {
      flush();
      in.take();
      set.parts.emplace_back(ast::Include{in.expect_name("the name of a set")});
    } else if (at_member(in)) {
      plain.members = parse_members(in);
      flush();
    } else if (in.at_kind(TokenKind::name)) {
      in.take();
      in.unexpected("'=' and the value of the constant before it");
    } else {
      in.unexpected("NAME=VALUE, 'mask', 'include' or '}'");
    }
  }
  return set;
}

ast::Struct parse_struct(TokenStream& in, StructKind kind) {
  ast::Struct structure;
  structure.kind = kind;
  structure.name = in.expect_name("the name of the structure");
  structure.params = parse_formal_params(in);
  while (!in.at("{")) {
    if (in.accept("packed")) {
      structure.packed = in.accept("@") ? parse_abis(in) : all_abis;
    } else if (in.accept("sized")) {
      in.expect("by");
      structure.sized_by = boxed(parse_expr(in));
    } else if (in.accept("min")) {
      structure.min_size = in.expect_u32("a number of bytes");
    } else if (in.accept("fill")) {
      structure.filled_size = in.expect_u32("a number of bytes");
    } else if (in.accept("step")) {
      structure.step = boxed(parse_expr(in));
    } else if (in.accept("list")) {
      structure.is_list = true;
      structure.is_spliced = in.accept("inline");
    } else if (in.accept("complex")) {
      structure.is_complex = true;
    } else if (in.accept("followed")) {
      structure.is_followed = true;
    } else {
      in.unexpected("'{', 'packed', 'list', 'complex', 'followed', 'sized by' or 'step'",
                    {"packed", "list", "complex", "followed", "sized", "min", "fill", "step"});
    }
  }
  if (kind == StructKind::stream && structure.step == nullptr) {
    in.fail(structure.name.at, "found a stream without a step, expected 'step EXPR' before '{'");
  }
  parse_fields(in, structure);
  parse_presentation(in, structure);
  return structure;
}

ast::Table parse_table(TokenStream& in) {
  ast::Table table;
  table.name = in.expect_name("the name of the table");
  table.params = parse_formal_params(in);
  if (table.params.empty() || table.params.size() > 4) {
    in.fail(table.name.at,
            fmt::format("found a table with {} parameters, expected one to four in parentheses", table.params.size()));
  }
  in.expect("{");
  while (!in.accept("}")) {
    ast::TableRow row{in.position(), {}, {}, {}};
    bool is_else = false;
    while (!in.accept(":")) {
      std::vector<Expr> alternatives;
      is_else = in.accept("else");
      if (!is_else) {
        do {
          const Position at = in.position();
          if (in.at_kind(TokenKind::name)) {
            alternatives.push_back({at, ast::Reference{std::string(in.take().text), {}}});
          } else if (in.at_kind(TokenKind::string)) {
            alternatives.push_back({at, ast::Literal{spec::text_number(in.expect_string("a text"))}});
          } else {
            alternatives.push_back({at, ast::Literal{parse_alternative(in)}});
          }
        } while (in.accept("|"));
      }
      row.keys.push_back(std::move(alternatives));
    }
    if (table.params.size() == 1 && row.keys.size() > 1) {
      // In a table of one parameter the keys before the colon are alternatives.
      for (std::size_t i = 1; i < row.keys.size(); ++i) {
        std::move(row.keys[i].begin(), row.keys[i].end(), std::back_inserter(row.keys[0]));
      }
      row.keys.resize(1);
    }
    // Parameters after the second have no keys; types use them.
    const auto keyed = std::min<std::size_t>(table.params.size(), 2);
    if (row.keys.empty() || row.keys.size() > keyed || (row.keys.size() < keyed && !is_else)) {
      in.fail(row.at, fmt::format("found {} keys, expected {}, or 'else'", row.keys.size(), keyed));
    }
    row.type = parse_type(in);
    if (in.accept_word("or")) {
      row.otherwise = parse_type(in);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Parses a key as key_text() writes it.
ast::Name parse_key(TokenStream& in) {
  if (at_named_bit(in)) {
    in.take();
    in.expect("<<");
    auto key = in.expect_name("a constant");
    key.text = "1<<" + key.text;
    return key;
  }
  const Position at = in.position();
  if (in.at_kind(TokenKind::number)) {
    return {std::to_string(in.expect_number("a number")), at};
  }
  if (in.at_kind(TokenKind::string)) {
    return {std::to_string(spec::text_number(in.expect_string("a text"))), at};
  }
  return expect_constant_name(in);
}

ast::Beyond parse_beyond(TokenStream& in) {
  ast::Beyond beyond{in.expect_name("a set, a table, a call or 'ioctls'"), {}};
  in.expect("{");
  while (!in.accept("}")) {
    beyond.keys.push_back(parse_key(in));
  }
  return beyond;
}

ast::Item parse_item(TokenStream& in) {
  const bool keyword = in.peek(1).kind == TokenKind::name;
  if (keyword && in.accept("type")) {
    return parse_alias(in);
  }
  if (keyword && in.accept("enum")) {
    return parse_set(in, false);
  }
  if (keyword && in.accept("flags")) {
    return parse_set(in, true);
  }
  if (keyword && in.accept("struct")) {
    return parse_struct(in, StructKind::plain);
  }
  if (keyword && in.accept("union")) {
    return parse_struct(in, StructKind::overlay);
  }
  if (keyword && in.accept("stream")) {
    return parse_struct(in, StructKind::stream);
  }
  if (keyword && in.accept("table")) {
    return parse_table(in);
  }
  if (!in.peek(1).is("(") && in.accept("ioctls")) {
    return parse_ioctls(in);
  }
  if (keyword && in.accept("beyond")) {
    return parse_beyond(in);
  }
  if (in.peek(1).kind == TokenKind::string && in.accept("library")) {
    return parse_library(in);
  }
  if (in.at_kind(TokenKind::name) && (in.peek(1).is("(") || in.peek(1).is("@"))) {
    return parse_call(in);
  }
  in.unexpected(
      "type, enum, flags, struct, union, stream, table, attributes, ioctls, library, beyond or NAME(…)",
      {"type", "enum", "flags", "struct", "union", "stream", "table", "attributes", "ioctls", "library", "beyond"});
}

}  // namespace tracer::sysc
