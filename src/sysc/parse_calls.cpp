#include <fmt/core.h>

#include <algorithm>

#include "sysc/parse_items.h"
#include "sysc/parse_types.h"

namespace tracer::sysc {

namespace {

using ast::boxed;
using ast::Expr;

ast::Param parse_param(TokenStream& in) {
  ast::Param param;
  param.name = in.expect_name("a parameter or '_'");
  if (param.name.text == "_" && !in.at(":")) {
    return param;
  }
  in.expect(":");
  param.type = parse_type(in);
  for (;;) {
    if (in.accept("if")) {
      param.condition = boxed(parse_expr(in));
    } else if (in.accept("when")) {
      param.when = boxed(parse_expr(in));
    } else if (in.at("always")) {
      param.when = boxed({in.take().at, ast::Literal{1}});
    } else if (in.accept("at")) {
      param.slot = static_cast<std::uint8_t>(std::clamp<std::int64_t>(parse_value(in), 0, 255));
    } else if (in.accept("named")) {
      param.named = true;
    } else if (in.accept("late")) {
      param.late = true;
    } else if (in.accept("unpassed")) {
      param.unpassed = true;
    } else if (in.at(",") || in.at(")")) {
      return param;
    } else {
      in.unexpected(
          "',', ')' or one of if, when, always, at, named, late, unpassed, as, wide, halves, brief, sized by",
          {"if", "when", "always", "at", "named", "late", "unpassed", "as", "wide", "halves", "brief", "sized"});
    }
  }
}

std::vector<ast::Param> parse_params(TokenStream& in) {
  std::vector<ast::Param> params;
  in.expect("(");
  if (!in.accept(")")) {
    do {
      params.push_back(parse_param(in));
    } while (in.accept(","));
    in.expect(")");
  }
  return params;
}

void parse_result(TokenStream& in, ast::Signature& signature) {
  if (in.accept("->")) {
    if (in.at("never")) {
      signature.never = in.expect_name("never");
      return;
    }
    if (in.at("void")) {
      signature.nothing = in.expect_name("void");
      return;
    }
    signature.result = parse_type(in);
  }
  if (in.at("note") && in.peek(1).kind == TokenKind::name) {
    in.take();
    signature.note = parse_type(in);
    if (in.at_kind(TokenKind::string)) {
      signature.note_prefix = in.expect_string("a string");
    }
    signature.note_styled = in.accept("styled");
  }
}

/// Parses a key of a row: a number or the name of a constant.
Expr parse_row_key(TokenStream& in) {
  const Position at = in.position();
  if (in.at_kind(TokenKind::name)) {
    return {at, ast::Reference{std::string(in.take().text), {}}};
  }
  return {at, ast::Literal{parse_value(in)}};
}

bool at_key(const TokenStream& in) {
  return in.at_kind(TokenKind::name) || in.at_kind(TokenKind::number) || in.at("-");
}

ast::Signature parse_signature(TokenStream& in) {
  ast::Signature signature;
  signature.at = in.position();
  signature.params = parse_params(in);
  parse_result(in, signature);
  return signature;
}

/// Parses `by EXPR { … }` or `by EXPR like CALL { … }`.
void parse_selector(TokenStream& in, ast::Signature& signature) {
  in.expect("by");
  signature.selector = boxed(parse_expr(in));
  if (in.accept("like")) {
    signature.like = in.expect_name("the name of a call");
  }
  in.expect("{");
  while (!in.accept("}")) {
    ast::Row row;
    if (!in.accept("else")) {
      while (at_key(in)) {
        row.keys.push_back(parse_row_key(in));
      }
      if (row.keys.empty()) {
        in.unexpected("a constant, 'else' or '}'");
      }
    }
    std::string shown = in.at_kind(TokenKind::string) ? in.expect_string("a name") : std::string{};
    if (!in.at("(")) {
      in.unexpected("'(' and the parameters of the row");
    }
    row.signature = parse_signature(in);
    row.signature.shown = std::move(shown);
    if (in.at("by")) {
      parse_selector(in, row.signature);
    }
    signature.rows.push_back(std::move(row));
  }
}

void parse_classes(TokenStream& in, ast::Call& call) {
  while (in.at("%") || in.at("%%")) {
    const Position at = in.position();
    const std::string prefix = in.take().text == "%%" ? "%" : "";
    const ast::Name name = in.expect_name("the name of a class of calls");
    const auto found = std::find(spec::call_class_names.begin(), spec::call_class_names.end(), prefix + name.text);
    if (found == spec::call_class_names.end()) {
      NearMiss near(prefix + name.text);
      std::for_each(spec::call_class_names.begin(), spec::call_class_names.end(),
                    [&](std::string_view candidate) { near.consider(candidate); });
      in.fail(at, "found %" + prefix + name.text + ", expected a class of calls" + near.suggestion());
    }
    call.classes |= 1U << (found - spec::call_class_names.begin());
  }
}

/// Parses `redirect [args] by EXPR { KEY: call … }`.
void parse_redirect(TokenStream& in, ast::Call& call) {
  if (!in.at("by")) {
    call.redirect_args = in.expect_name("'by' or the name of a parameter");
  }
  in.expect("by");
  call.redirect = boxed(parse_expr(in));
  in.expect("{");
  while (!in.accept("}")) {
    ast::RedirectRow row;
    while (at_key(in)) {
      row.keys.push_back(parse_row_key(in));
    }
    in.expect(":");
    row.call = in.expect_name("the name of a call");
    call.redirects.push_back(std::move(row));
  }
}

bool parse_encoding(TokenStream& in, ast::IoctlRow& row) {
  using Encoding = ast::IoctlRow::Encoding;
  constexpr std::pair<std::string_view, Encoding> macros[] = {
      {"_IO", Encoding::io}, {"_IOR", Encoding::read}, {"_IOW", Encoding::write}, {"_IOWR", Encoding::read_write}};
  for (const auto& [name, encoding] : macros) {
    if (in.accept(name)) {
      row.encoding = encoding;
      return true;
    }
  }
  return false;
}

/// Parses `64 to 127 as axes`, a range of an ioctl's numbers. It starts at a multiple of its length, a power of two.
void parse_number_range(TokenStream& in, ast::IoctlRow& row) {
  if (!in.accept("to")) {
    return;
  }
  const auto first = row.number.front().value_or(0);
  const auto last = parse_value(in);
  const auto open = first ^ last;
  if (last <= first || last > 0xff || (open & (open + 1)) != 0 || (first & open) != 0) {
    in.unexpected("the end of a range of 2, 4, 8… numbers", {});
  }
  row.open_number = static_cast<std::uint32_t>(open);
  if (in.accept("as")) {
    row.number_set = in.expect_name("the name of an enum");
  }
}

/// Returns the signature of a row without one. `_IOR(n, T)` writes a T, `_IOW` reads one, `_IOWR` does both.
ast::Signature usual_signature(Position at, ast::IoctlRow::Encoding encoding, ast::Type argument) {
  using Encoding = ast::IoctlRow::Encoding;
  ast::Pointer pointer;
  pointer.direction = encoding == Encoding::read    ? spec::Direction::out
                      : encoding == Encoding::write ? spec::Direction::in
                                                    : spec::Direction::inout;
  pointer.target = std::make_unique<ast::Type>(std::move(argument));
  ast::Param param;
  param.name = {"argp", at};
  param.type = ast::Type{at, std::move(pointer), {}, {}};
  ast::Signature signature;
  signature.at = at;
  signature.params.push_back(std::move(param));
  return signature;
}

ast::IoctlRow parse_ioctl(TokenStream& in) {
  ast::IoctlRow row;
  row.name = in.expect_name("the name of an ioctl");
  const AbiMask abis = in.accept("@") ? parse_abis(in) : all_abis;
  in.expect("=");
  if (parse_encoding(in, row)) {
    in.expect("(");
    row.number.fill(parse_value(in));
    parse_number_range(in, row);
    const bool may_end = row.encoding == ast::IoctlRow::Encoding::io && in.at(")");
    if (!may_end) {
      in.expect(",");
      row.any_size = in.accept("?");
      if (!row.any_size) {
        row.size = parse_type(in);
      }
    }
    in.expect(")");
  } else if (in.at_kind(TokenKind::name)) {
    in.unexpected("a number, _IO, _IOR, _IOW or _IOWR", {"_IO", "_IOR", "_IOW", "_IOWR"});
  } else {
    row.number = parse_values(in);
  }
  for (std::size_t i = 0; i < abi_count; ++i) {
    row.number[i] = (abis >> i & 1) != 0 ? row.number[i] : std::nullopt;
  }
  if (in.at("(")) {
    row.signature = parse_signature(in);
    if (in.at("by")) {
      parse_selector(in, *row.signature);
    }
  } else if (row.size && row.encoding != ast::IoctlRow::Encoding::io && !in.accept("_")) {
    row.signature = usual_signature(row.size->at, row.encoding, std::move(*row.size));
    row.size.reset();
  }
  return row;
}

spec::Varargs parse_varargs(TokenStream& in) {
  if (in.accept("printf")) {
    return spec::Varargs::printf;
  }
  if (in.accept("scanf")) {
    return spec::Varargs::scanf;
  }
  in.unexpected("printf or scanf", {"printf", "scanf"});
}

}  // namespace

const ast::Type* ast::IoctlRow::size_type() const {
  if (size) {
    return &*size;
  }
  if (encoding == Encoding::plain || encoding == Encoding::io || any_size) {
    return nullptr;
  }
  return std::get<ast::Pointer>(signature->params.front().type->node).target.get();
}

ast::Call parse_call(TokenStream& in) {
  ast::Call call;
  call.name = in.expect_name("the name of a call");
  if (in.accept("@")) {
    call.for_some_abis = true;
    call.abis = parse_abis(in);
  }
  call.signature = parse_signature(in);
  for (;;) {
    if (in.at("%") || in.at("%%")) {
      parse_classes(in, call);
    } else if (in.at("by")) {
      parse_selector(in, call.signature);
    } else if (in.accept("redirect")) {
      parse_redirect(in, call);
    } else if (in.accept("varargs")) {
      call.varargs = parse_varargs(in);
    } else if (in.accept("errno")) {
      call.sets_errno = true;
    } else {
      return call;
    }
  }
}

ast::Ioctls parse_ioctls(TokenStream& in) {
  ast::Ioctls block;
  block.at = in.position();
  const auto type = in.expect_number("the type of the ioctls: 'T' or a number");
  if (type > 0xff) {
    in.fail(block.at, fmt::format("found {}, expected one byte", type));
  }
  block.type = static_cast<std::uint8_t>(type);
  ast::IoctlRow common;
  if (in.accept("of")) {
    common.driver = in.expect_name("the name of a driver").text;
  }
  if (in.accept("likely")) {
    in.expect("@");
    common.likely = parse_abis(in);
  } else if (in.accept("unlikely")) {
    common.unlikely = in.accept("@") ? parse_abis(in) : all_abis;
  }
  in.expect("{");
  while (!in.accept("}")) {
    auto& row = block.rows.emplace_back(parse_ioctl(in));
    row.likely = common.likely;
    row.unlikely = common.unlikely;
    row.driver = common.driver;
  }
  return block;
}

ast::Library parse_library(TokenStream& in) {
  ast::Library library;
  do {
    const Position at = in.position();
    library.names.push_back({in.expect_string("the name of a library"), at});
  } while (in.at_kind(TokenKind::string));
  library.leaf = in.accept("leaf");
  in.expect("{");
  while (!in.accept("}")) {
    if (in.at_kind(TokenKind::name) && !in.peek(1).is("(") && !in.peek(1).is("@")) {
      library.calls.push_back(in.expect_name("the name of a system call"));
    } else {
      library.functions.push_back(parse_call(in));
    }
  }
  return library;
}

}  // namespace tracer::sysc
