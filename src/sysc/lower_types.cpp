#include "sysc/lower_types.h"

#include <fmt/core.h>

#include <algorithm>

namespace tracer::sysc {

using spec::none;
using spec::Style;
using spec::TypeKind;

namespace {

struct Scalar {
  std::string_view name;
  std::uint8_t width;  ///< in bytes; 0: the tracee's long
  bool is_signed;
  Style style = Style::number;
};
constexpr Scalar scalars[] = {{"i8", 1, true},
                              {"i16", 2, true},
                              {"i32", 4, true},
                              {"i64", 8, true},
                              {"u8", 1, false},
                              {"u16", 2, false},
                              {"u32", 4, false},
                              {"u64", 8, false},
                              {"int", 4, true},
                              {"uint", 4, false},
                              {"long", 0, true},
                              {"ulong", 0, false},
                              {"klong", spec::register_wide, true},
                              {"kulong", spec::register_wide, false},
                              {"hex", 4, true, Style::hex},
                              {"float", 4, false, Style::floating},
                              {"double", 8, false, Style::floating},
                              {"longdouble", spec::long_double_wide, false, Style::floating}};

const Scalar* find_scalar(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(scalars), std::end(scalars), [&](const auto& s) { return s.name == name; });
  return found == std::end(scalars) ? nullptr : found;
}

}  // namespace

std::string type_suggestion(const Symbols& symbols, const std::string& name) {
  NearMiss near(name);
  symbols.suggest_types(near);
  for (const auto& scalar : scalars) {
    near.consider(scalar.name);
  }
  for (const auto* word : {"bytes", "hexbytes", "cstr", "custom", "ioctl_cmd"}) {
    near.consider(word);
  }
  return near.suggestion();
}

spec::TypeId TypeLowering::builtin(std::string_view name) {
  if (name == "ioctl_cmd") {
    spec::Type type;
    type.name = context_.builder.string(name);
    type.width = 4;
    type.style = Style::ioctl;
    type.set = context_.ioctl_set;
    return context_.builder.type(type);
  }
  const Scalar* scalar = find_scalar(name);
  if (scalar == nullptr) {
    return none;
  }
  spec::Type type;
  type.name = context_.builder.string(name);
  type.width = scalar->width;
  type.is_signed = scalar->is_signed;
  type.style = scalar->style;
  return context_.builder.type(type);
}

spec::TypeId TypeLowering::fallback() {
  spec::Type type;
  type.name = context_.builder.string("ulong");
  type.width = 0;
  type.style = Style::hex;
  return context_.builder.type(type);
}

std::string TypeLowering::text_of(spec::TypeId id) const {
  const auto ref = context_.set.types[id].name;
  return ref == none ? std::string{} : context_.set.strings.c_str() + ref;
}

spec::TypeId TypeLowering::lower(const ast::Type& type, const Scope& scope, unsigned alias_depth) {
  auto id = std::visit([&](const auto& node) { return lower_node(node, type, scope, alias_depth); }, type.node);
  if (type.width) {
    id = with_width(id, *type.width);
  }
  if (type.style) {
    id = with_style(id, *type.style);
  }
  if (type.owner) {
    id = with_owner(id, *type.owner);
  }
  if (type.bit_count != 0) {
    id = with_bits(id, type);
  }
  return type.show != nullptr ? with_show(id, *type.show, scope) : id;
}

std::optional<Style> style_named(const ast::Name& name, Diagnostics& diagnostics) {
  const auto found = std::find(spec::style_names.begin(), spec::style_names.end(), name.text);
  if (found != spec::style_names.end()) {
    return static_cast<Style>(found - spec::style_names.begin());
  }
  NearMiss near(name.text);
  std::for_each(spec::style_names.begin(), spec::style_names.end(), [&](auto style) { near.consider(style); });
  diagnostics.error(name.at, "found " + name.text + ", expected a style after 'as'" + near.suggestion());
  return std::nullopt;
}

spec::TypeId TypeLowering::with_style(spec::TypeId id, const ast::Name& name) {
  const auto style = style_named(name, context_.diagnostics);
  if (!style) {
    return id;
  }
  spec::Type type = context_.set.types[id];
  switch (type.kind) {
    case TypeKind::pointer:
    case TypeKind::array:
      type.target = with_style(type.target, name);
      break;
    case TypeKind::scalar:
    case TypeKind::cstr:
    case TypeKind::bytes:
    case TypeKind::custom:
      type.style = *style;
      break;
    default:
      context_.diagnostics.error(name.at,
                                 "found 'as " + name.text + "' on something that is no scalar, expected it on one");
  }
  return context_.builder.type(type);
}

spec::TypeId TypeLowering::with_bits(spec::TypeId id, const ast::Type& at) {
  spec::Type type = context_.set.types[id];
  if (type.kind != TypeKind::scalar || type.width == 0 || type.width > 8 || at.bit_count > 8 * type.width) {
    context_.diagnostics.error(at.at, fmt::format("found {} bits of {}, expected bits of a scalar of a fixed size",
                                                  at.bit_count, text_of(id)));
    return id;
  }
  type.bit_count = at.bit_count;
  return context_.builder.type(type);
}

spec::TypeId TypeLowering::with_owner(spec::TypeId id, const ast::Name& name) {
  spec::Type type = context_.set.types[id];
  if (type.kind != TypeKind::scalar || type.style != Style::fd) {
    context_.diagnostics.error(name.at, "found 'of " + name.text + "' on something that is no descriptor");
    return id;
  }
  type.args = context_.builder.expr_list(
      {context_.builder.expr({spec::ExprOp::outer, context_.builder.string(name.text), none, 0})});
  return context_.builder.type(type);
}

spec::TypeId TypeLowering::with_show(spec::TypeId id, const ast::Show& show, const Scope& scope) {
  spec::Type type = context_.set.types[id];
  if (type.kind != TypeKind::scalar) {
    context_.diagnostics.error(show.at, "found 'show' on something that is no scalar, expected it on one");
    return id;
  }
  type.index = lower_show(show, scope);
  return context_.builder.type(type);
}

spec::Index TypeLowering::lower_show(const ast::Show& show, const Scope& scope) {
  std::vector<spec::ShowPart> parts;
  for (const auto& group : show.groups) {
    const auto condition = exprs_.lower_optional(group.condition, scope);
    for (const auto& part : group.parts) {
      parts.push_back({part.value == nullptr ? context_.builder.string(part.text) : none,
                       exprs_.lower_optional(part.value, scope),
                       part.type == nullptr ? none : lower(*part.type, scope, 0), condition, part.styled});
    }
  }
  return context_.builder.show(show.kind, parts);
}

spec::TypeId TypeLowering::with_width(spec::TypeId id, const ast::Name& name) {
  const Scalar* scalar = find_scalar(name.text);
  spec::Type type = context_.set.types[id];
  if (scalar == nullptr || type.kind != TypeKind::scalar) {
    context_.diagnostics.error(name.at, scalar == nullptr
                                            ? "found " + name.text + ", expected a scalar such as u16" +
                                                  type_suggestion(context_.symbols, name.text)
                                            : "found a width for something that is no scalar, expected it after one");
    return id;
  }
  type.width = scalar->width;
  type.is_signed = scalar->is_signed;
  return context_.builder.type(type);
}

spec::Range TypeLowering::lower_args(const ast::Named& named, std::size_t expected, Position at, const Scope& scope) {
  std::vector<spec::ExprId> args;
  for (const auto& arg : named.args) {
    args.push_back(exprs_.lower(arg, scope));
  }
  if (args.size() != expected) {
    context_.diagnostics.error(at,
                               fmt::format("found {} with {} values, expected {}", named.name, args.size(), expected));
    args.resize(expected, context_.builder.literal(0));
  }
  return context_.builder.expr_list(args);
}

spec::TypeId TypeLowering::type_of_set(const Symbol& symbol, const std::string& name) {
  const auto& set = *std::get<const ast::Set*>(symbol.declaration);
  spec::Type type = context_.set.types[builtin("uint")];
  if (set.width) {
    const Scalar* scalar = find_scalar(set.width->text);
    if (scalar == nullptr) {
      context_.diagnostics.error(set.width->at, "found " + set.width->text + ", expected a scalar such as u32" +
                                                    type_suggestion(context_.symbols, set.width->text));
    } else {
      type.width = scalar->width;
      type.is_signed = scalar->is_signed;
    }
  }
  type.name = context_.builder.string(name);
  type.set = symbol.index;
  type.style = context_.set.sets[symbol.index].fallback;
  return context_.builder.type(type);
}

spec::TypeId TypeLowering::lower_node(const ast::Named& named, const ast::Type& at, const Scope& scope,
                                      unsigned alias_depth) {
  const Symbol* symbol = named.member.empty() ? context_.symbols.find_type(named.name) : nullptr;
  if (symbol == nullptr) {
    const auto id = named.member.empty() ? builtin(named.name) : none;
    if (id != none && named.args.empty()) {
      return id;
    }
    context_.diagnostics.error(at.at, "found " + named.name + (named.member.empty() ? "" : "." + named.member) +
                                          ", expected a type" + type_suggestion(context_.symbols, named.name));
    return fallback();
  }
  spec::Type type;
  type.name = context_.builder.string(named.name);
  type.index = symbol->index;
  if (const auto* structure = std::get_if<const ast::Struct*>(&symbol->declaration)) {
    type.kind = TypeKind::structure;
    type.args = lower_args(named, (*structure)->params.size(), at.at, scope);
    return context_.builder.type(type);
  }
  if (const auto* table = std::get_if<const ast::Table*>(&symbol->declaration)) {
    type.kind = TypeKind::choice;
    type.args = lower_args(named, (*table)->params.size(), at.at, scope);
    return context_.builder.type(type);
  }
  lower_args(named, 0, at.at, scope);
  if (std::holds_alternative<const ast::Set*>(symbol->declaration)) {
    return type_of_set(*symbol, named.name);
  }
  if (alias_depth == max_alias_depth) {
    context_.diagnostics.error(at.at, "found " + named.name + ", which is defined by itself");
    return fallback();
  }
  type = context_.set.types[lower(std::get<const ast::Alias*>(symbol->declaration)->type, scope, alias_depth + 1)];
  type.name = context_.builder.string(named.name);
  return context_.builder.type(type);
}

spec::TypeId TypeLowering::lower_node(const ast::Pointer& pointer, const ast::Type&, const Scope& scope,
                                      unsigned alias_depth) {
  spec::Type type;
  type.kind = TypeKind::pointer;
  type.target = lower(*pointer.target, scope, alias_depth);
  type.name = context_.builder.string("*" + text_of(type.target));
  type.direction = pointer.direction;
  type.wide_pointer = pointer.wide;
  type.sized_by = exprs_.lower_optional(pointer.sized_by, scope);
  return context_.builder.type(type);
}

void TypeLowering::lower_length(const ast::Length& length, spec::Type& type, const Scope& scope) {
  type.length_kind = length.kind;
  type.length = exprs_.lower_optional(length.count, scope);
  type.budget = exprs_.lower_optional(length.budget, scope);
  type.max = length.max;
  if (type.budget != none && context_.set.exprs[type.budget].op != spec::ExprOp::param) {
    context_.diagnostics.error(length.at,
                               "found 'of' and no parameter of the struct, expected one that holds what is left");
  }
}

spec::TypeId TypeLowering::lower_node(const ast::Array& array, const ast::Type&, const Scope& scope,
                                      unsigned alias_depth) {
  spec::Type type;
  type.kind = TypeKind::array;
  type.target = lower(*array.element, scope, alias_depth);
  type.name = context_.builder.string(text_of(type.target) + "[]");
  lower_length(array.length, type, scope);
  type.brief = context_.builder.optional_string(array.brief);
  if (array.indexes) {
    const Symbol* symbol = context_.symbols.find_type(array.indexes->text);
    if (symbol == nullptr || !std::holds_alternative<const ast::Set*>(symbol->declaration)) {
      context_.diagnostics.error(array.indexes->at, "found " + array.indexes->text + ", expected the name of an enum" +
                                                        type_suggestion(context_.symbols, array.indexes->text));
    } else {
      type.set = symbol->index;
    }
  }
  return context_.builder.type(type);
}

spec::TypeId TypeLowering::lower_node(const ast::Bytes& bytes, const ast::Type&, const Scope& scope, unsigned) {
  spec::Type type;
  type.kind = TypeKind::bytes;
  type.name = context_.builder.string(bytes.hex ? "hexbytes" : "bytes");
  type.hex = bytes.hex;
  lower_length(bytes.length, type, scope);
  type.brief = context_.builder.optional_string(bytes.brief);
  return context_.builder.type(type);
}

spec::TypeId TypeLowering::lower_node(const ast::Text& text, const ast::Type&, const Scope& scope, unsigned) {
  spec::Type type;
  type.kind = TypeKind::cstr;
  type.name = context_.builder.string("cstr");
  if (text.length) {
    lower_length(*text.length, type, scope);
  }
  return context_.builder.type(type);
}

spec::TypeId TypeLowering::lower_node(const ast::Custom& custom, const ast::Type&, const Scope& scope,
                                      unsigned alias_depth) {
  spec::Type type;
  type.kind = TypeKind::custom;
  type.width = 0;
  type.name = context_.builder.string(custom.function.text);
  type.custom = context_.builder.custom(custom.function.text);
  if (custom.memory != nullptr) {
    type.target = lower(*custom.memory, scope, alias_depth);
  }
  return context_.builder.type(type);
}

}  // namespace tracer::sysc
