#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "sysc/lowering.h"

namespace tracer::sysc {

using spec::none;
using spec::Style;
using spec::Type;
using spec::TypeKind;

namespace {

constexpr unsigned deepest_alias = 32;

struct Scalar {
  std::string_view name;
  std::uint8_t width;  ///< 0: the tracee's word
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

std::string Lowering::type_suggestion(const std::string& name) const {
  NearMiss near(name);
  symbols_.suggest_types(near);
  for (const auto& scalar : scalars) {
    near.consider(scalar.name);
  }
  for (const auto* word : {"bytes", "hexbytes", "cstr", "custom", "ioctl_cmd"}) {
    near.consider(word);
  }
  return near.suggestion();
}

spec::TypeId Lowering::builtin(std::string_view name) {
  if (name == "ioctl_cmd") {
    Type type;
    type.name = builder_.string(name);
    type.width = 4;
    type.style = Style::ioctl;
    type.set = ioctl_set_;
    return builder_.type(type);
  }
  const Scalar* scalar = find_scalar(name);
  if (scalar == nullptr) {
    return none;
  }
  Type type;
  type.name = builder_.string(name);
  type.width = scalar->width;
  type.is_signed = scalar->is_signed;
  type.style = scalar->style;
  return builder_.type(type);
}

spec::TypeId Lowering::fallback_type() {
  Type type;
  type.name = builder_.string("ulong");
  type.width = 0;
  type.style = Style::hex;
  return builder_.type(type);
}

std::string Lowering::text_of(spec::TypeId id) const {
  const auto ref = set_.types[id].name;
  return ref == none ? std::string{} : set_.strings.c_str() + ref;
}

const ast::Type* Lowering::resolve(const ast::Type& type) {
  const ast::Type* here = &type;
  for (unsigned depth = 0; depth < deepest_alias; ++depth) {
    const auto* named = std::get_if<ast::Named>(&here->node);
    const Symbol* symbol = named == nullptr ? nullptr : symbols_.find_type(named->name);
    const auto* alias = symbol == nullptr ? nullptr : std::get_if<const ast::Alias*>(&symbol->declaration);
    if (alias == nullptr) {
      return here;
    }
    here = &(*alias)->type;
  }
  return nullptr;
}

ast::Type::Registers Lowering::registers_of(const ast::Type& type) {
  const ast::Type* here = &type;
  for (unsigned depth = 0; depth < deepest_alias && here != nullptr; ++depth) {
    if (here->registers != ast::Type::Registers::one) {
      return here->registers;
    }
    const auto* named = std::get_if<ast::Named>(&here->node);
    const Symbol* symbol = named == nullptr ? nullptr : symbols_.find_type(named->name);
    const auto* alias = symbol == nullptr ? nullptr : std::get_if<const ast::Alias*>(&symbol->declaration);
    here = alias == nullptr ? nullptr : &(*alias)->type;
  }
  return ast::Type::Registers::one;
}

spec::TypeId Lowering::lower_type(const ast::Type& type, const Scope& scope) {
  auto id = std::visit([&](const auto& node) { return lower_node(node, type, scope); }, type.node);
  if (type.width) {
    id = with_width(id, *type.width);
  }
  if (type.style) {
    id = with_style(id, *type.style);
  }
  return id;
}

std::optional<Style> Lowering::style_named(const ast::Name& name) {
  const auto found = std::find(spec::style_names.begin(), spec::style_names.end(), name.text);
  if (found != spec::style_names.end()) {
    return static_cast<Style>(found - spec::style_names.begin());
  }
  NearMiss near(name.text);
  std::for_each(spec::style_names.begin(), spec::style_names.end(), [&](auto style) { near.consider(style); });
  diagnostics_.error(name.at, "found " + name.text + ", expected a style after 'as'" + near.suggestion());
  return std::nullopt;
}

spec::TypeId Lowering::with_style(spec::TypeId id, const ast::Name& name) {
  const auto style = style_named(name);
  if (!style) {
    return id;
  }
  Type type = set_.types[id];
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
      diagnostics_.error(name.at, "found 'as " + name.text + "' on something that is no scalar, expected it on one");
  }
  return builder_.type(type);
}

spec::TypeId Lowering::with_width(spec::TypeId id, const ast::Name& name) {
  const Scalar* scalar = find_scalar(name.text);
  Type type = set_.types[id];
  if (scalar == nullptr || type.kind != TypeKind::scalar) {
    diagnostics_.error(name.at,
                       scalar == nullptr
                           ? "found " + name.text + ", expected a scalar such as u16" + type_suggestion(name.text)
                           : "found a width for something that is no scalar, expected it after one");
    return id;
  }
  type.width = scalar->width;
  type.is_signed = scalar->is_signed;
  return builder_.type(type);
}

spec::Range Lowering::lower_args(const ast::Named& named, std::size_t expected, Position at, const Scope& scope) {
  std::vector<spec::ExprId> args;
  for (const auto& arg : named.args) {
    args.push_back(lower_expr(arg, scope));
  }
  if (args.size() != expected) {
    diagnostics_.error(at, fmt::format("found {} with {} values, expected {}", named.name, args.size(), expected));
    args.resize(expected, builder_.literal(0));
  }
  return builder_.expr_list(args);
}

spec::TypeId Lowering::type_of_set(const Symbol& symbol, const std::string& name) {
  const auto& set = *std::get<const ast::Set*>(symbol.declaration);
  Type type = set_.types[builtin("uint")];
  if (set.width) {
    const Scalar* scalar = find_scalar(set.width->text);
    if (scalar == nullptr) {
      diagnostics_.error(set.width->at, "found " + set.width->text + ", expected a scalar such as u32" +
                                            type_suggestion(set.width->text));
    } else {
      type.width = scalar->width;
      type.is_signed = scalar->is_signed;
    }
  }
  type.name = builder_.string(name);
  type.set = symbol.index;
  type.style = set_.sets[symbol.index].fallback;
  return builder_.type(type);
}

spec::TypeId Lowering::lower_node(const ast::Named& named, const ast::Type& at, const Scope& scope) {
  const Symbol* symbol = named.member.empty() ? symbols_.find_type(named.name) : nullptr;
  if (symbol == nullptr) {
    const auto id = named.member.empty() ? builtin(named.name) : none;
    if (id != none && named.args.empty()) {
      return id;
    }
    diagnostics_.error(at.at, "found " + named.name + (named.member.empty() ? "" : "." + named.member) +
                                  ", expected a type" + type_suggestion(named.name));
    return fallback_type();
  }
  Type type;
  type.name = builder_.string(named.name);
  type.index = symbol->index;
  if (const auto* structure = std::get_if<const ast::Struct*>(&symbol->declaration)) {
    type.kind = TypeKind::structure;
    type.args = lower_args(named, (*structure)->params.size(), at.at, scope);
    return builder_.type(type);
  }
  if (const auto* table = std::get_if<const ast::Table*>(&symbol->declaration)) {
    type.kind = TypeKind::choice;
    type.args = lower_args(named, (*table)->params.size(), at.at, scope);
    return builder_.type(type);
  }
  lower_args(named, 0, at.at, scope);
  if (std::holds_alternative<const ast::Set*>(symbol->declaration)) {
    return type_of_set(*symbol, named.name);
  }
  if (alias_depth_ == deepest_alias) {
    diagnostics_.error(at.at, "found " + named.name + ", which is defined by itself");
    return fallback_type();
  }
  ++alias_depth_;
  type = set_.types[lower_type(std::get<const ast::Alias*>(symbol->declaration)->type, scope)];
  --alias_depth_;
  type.name = builder_.string(named.name);
  return builder_.type(type);
}

spec::TypeId Lowering::lower_node(const ast::Pointer& pointer, const ast::Type&, const Scope& scope) {
  Type type;
  type.kind = TypeKind::pointer;
  type.target = lower_type(*pointer.target, scope);
  type.name = builder_.string("*" + text_of(type.target));
  type.direction = pointer.direction;
  type.wide_pointer = pointer.wide;
  type.sized_by = lower_optional(pointer.sized_by, scope);
  return builder_.type(type);
}

void Lowering::lower_length(const ast::Length& length, Type& type, const Scope& scope) {
  type.length_kind = length.kind;
  type.length = lower_optional(length.count, scope);
  type.budget = lower_optional(length.budget, scope);
  type.max = length.max;
  if (type.budget != none && set_.exprs[type.budget].op != spec::ExprOp::param) {
    diagnostics_.error(length.at, "found 'of' and no parameter of the struct, expected one that holds what is left");
  }
}

spec::TypeId Lowering::lower_node(const ast::Array& array, const ast::Type&, const Scope& scope) {
  Type type;
  type.kind = TypeKind::array;
  type.target = lower_type(*array.element, scope);
  type.name = builder_.string(text_of(type.target) + "[]");
  lower_length(array.length, type, scope);
  type.brief = builder_.optional_string(array.brief);
  return builder_.type(type);
}

spec::TypeId Lowering::lower_node(const ast::Bytes& bytes, const ast::Type&, const Scope& scope) {
  Type type;
  type.kind = TypeKind::bytes;
  type.name = builder_.string(bytes.hex ? "hexbytes" : "bytes");
  type.hex = bytes.hex;
  lower_length(bytes.length, type, scope);
  type.brief = builder_.optional_string(bytes.brief);
  return builder_.type(type);
}

spec::TypeId Lowering::lower_node(const ast::Text& text, const ast::Type&, const Scope& scope) {
  Type type;
  type.kind = TypeKind::cstr;
  type.name = builder_.string("cstr");
  if (text.length) {
    lower_length(*text.length, type, scope);
  }
  return builder_.type(type);
}

spec::TypeId Lowering::lower_node(const ast::Custom& custom, const ast::Type&, const Scope& scope) {
  Type type;
  type.kind = TypeKind::custom;
  type.width = 0;
  type.name = builder_.string(custom.function.text);
  type.custom = builder_.custom(custom.function.text);
  if (custom.memory != nullptr) {
    type.target = lower_type(*custom.memory, scope);
  }
  return builder_.type(type);
}

}  // namespace tracer::sysc
