// `attributes NAME(PARAM, ...) "X_???" { X_A=1: TYPE X_B=2 X_C=3: TYPE else: TYPE }`: a family of netlink attributes.
//
// It abbreviates four items: the set of the names, a table of the values, the header and the stream of records. Their
// names contain a dot, so they do not collide with others.
#include <utility>

#include "sysc/parse_items.h"
#include "sysc/parse_types.h"

namespace tracer::sysc {

namespace {

using ast::boxed;
using ast::Expr;

// linux/netlink.h: NLA_F_NESTED, NLA_F_NET_BYTEORDER, NLA_TYPE_MASK, NLA_ALIGNTO.
constexpr std::int64_t nested_flag = 0x8000;
constexpr std::int64_t byte_order_flag = 0x4000;
constexpr std::int64_t type_mask = 0x3fff;
constexpr std::int64_t alignment = 4;

Expr literal(Position at, std::int64_t value) {
  return {at, ast::Literal{value}};
}

Expr reference(Position at, std::string name, std::string member = {}) {
  return {at, ast::Reference{std::move(name), std::move(member)}};
}

ast::Type named_type(Position at, std::string name, std::vector<Expr> args = {}) {
  return {at, ast::Named{std::move(name), {}, std::move(args)}, {}, {}, {}};
}

ast::Field field(Position at, std::string name, ast::Type type) {
  ast::Field made;
  made.name = {std::move(name), at};
  made.type = std::move(type);
  return made;
}

ast::Member member(Position at, std::string name, std::int64_t value) {
  ast::Member made{{std::move(name), at}, {}};
  made.values.fill(value);
  return made;
}

/// Returns one bit of the type of an attribute. It shows by itself, as the type does: `0x8000 /* NLA_F_NESTED */|0x1`.
ast::Group flag_group(Position at, std::string name, std::int64_t value) {
  ast::Group group;
  group.at = at;
  group.mask = static_cast<std::uint64_t>(value);
  group.apart = true;
  group.members.push_back(member(at, std::move(name), value));
  return group;
}

/// Returns the type of attributes without a type: bytes.
ast::Type plain_bytes(Position at) {
  ast::Length length;
  length.at = at;
  length.kind = spec::LengthKind::count;
  length.count = boxed({at, ast::Reserved{spec::ExprOp::rest, spec::none}});
  return {at, ast::Bytes{std::move(length), true, {}}, {}, {}, {}};
}

ast::TableRow row_at(Position at) {
  ast::TableRow row{at, {}, {}, {}};
  row.keys.emplace_back();
  return row;
}

struct Body {
  ast::Group names;
  ast::Table values;
};

Body parse_body(TokenStream& in) {
  Body body;
  body.names.at = in.position();
  body.names.mask = type_mask;
  body.names.apart = true;
  bool has_else = false;
  auto row = row_at(in.position());
  in.expect("{");
  while (!in.accept("}")) {
    if (in.at_kind(TokenKind::name) && in.peek(1).is("=")) {
      ast::Member name{in.expect_name("an attribute"), {}};
      in.expect("=");
      name.values = parse_values(in);
      row.keys[0].push_back(literal(name.name.at, name.values[0].value_or(spec::absent_key)));
      row.attributes.push_back(name.name.text);
      body.names.members.push_back(std::move(name));
    } else if (!in.at("else")) {
      in.unexpected("NAME=VALUE, ':', 'else' or '}'");
    } else {
      in.take();
      has_else = true;
      row.keys[0].clear();
      in.expect(":");
      row.type = parse_type(in);
      body.values.rows.push_back(std::exchange(row, row_at(in.position())));
      continue;
    }
    if (in.accept(":")) {
      row.type = parse_type(in);
      if (in.accept("or")) {
        row.otherwise = parse_type(in);
      }
      body.values.rows.push_back(std::exchange(row, row_at(in.position())));
    }
  }
  if (!has_else) {
    row = row_at(body.names.at);
    row.type = plain_bytes(body.names.at);
    body.values.rows.push_back(std::move(row));
  }
  return body;
}

}  // namespace

void parse_attributes(TokenStream& in, std::vector<ast::Item>& items) {
  const ast::Name name = in.expect_name("the name of the attributes");
  const Position at = name.at;
  const auto params = parse_formal_params(in);
  const auto set_name = name.text + ".name";
  const auto table_name = name.text + ".value";
  const auto header_name = name.text + ".header";

  ast::Set set;
  set.is_flags = true;
  set.name = {set_name, at};
  set.width = ast::Name{"u16", at};
  std::string unknown;
  if (in.at_kind(TokenKind::string)) {
    unknown = in.expect_string("a string");
  }
  Body body = parse_body(in);
  body.names.unknown = std::move(unknown);
  set.parts.emplace_back(flag_group(at, "NLA_F_NESTED", nested_flag));
  set.parts.emplace_back(flag_group(at, "NLA_F_NET_BYTEORDER", byte_order_flag));
  set.parts.emplace_back(std::move(body.names));

  body.values.name = {table_name, at};
  body.values.params.push_back({"nla_type", at});
  body.values.params.insert(body.values.params.end(), params.begin(), params.end());

  ast::Struct header;
  header.name = {header_name, at};
  header.fields.push_back(field(at, "nla_len", named_type(at, "u16")));
  header.fields.push_back(field(at, "nla_type", named_type(at, set_name)));

  ast::Struct stream;
  stream.kind = spec::StructKind::stream;
  stream.is_list = true;
  stream.name = name;
  stream.params = params;
  stream.step = boxed({at, ast::Applied{spec::ExprOp::align, boxed(reference(at, "header", "nla_len")),
                                        boxed(literal(at, alignment)), spec::none}});
  stream.fields.push_back(field(at, "header", named_type(at, header_name)));
  std::vector<Expr> args;
  args.push_back({at, ast::Binary{ast::BinaryOp::bit_and, boxed(reference(at, "header", "nla_type")),
                                  boxed(literal(at, type_mask))}});
  for (const auto& param : params) {
    args.push_back(reference(at, param.text));
  }
  stream.fields.push_back(field(at, "value", named_type(at, table_name, std::move(args))));
  stream.fields.back().condition = boxed({at, ast::Reserved{spec::ExprOp::rest, spec::none}});

  items.emplace_back(std::move(set));
  items.emplace_back(std::move(body.values));
  items.emplace_back(std::move(header));
  items.emplace_back(std::move(stream));
}

}  // namespace tracer::sysc
