#include "debuginfo/standard_types.h"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <string>

#include "debuginfo/attributes.h"

namespace tracer::debuginfo {

namespace {

using spec::Direction;
using spec::Expr;
using spec::ExprId;
using spec::ExprOp;
using spec::Style;
using spec::Type;
using spec::TypeId;
using spec::TypeKind;

/// What a type stands for.
enum class Meaning : std::uint8_t {
  text,      ///< `number` characters from `start`
  elements,  ///< `number` elements from `start`
  range,     ///< the elements from `start` to `number`, an address
  whole,     ///< what `start` is
  optional,  ///< `start`, if `number` is not 0
  counted,   ///< `start` elements, in nodes of their own
};

struct Shape {
  std::string_view name;  ///< how the type's name starts; without a bracket or a comma at the end, all of it
  Meaning meaning;
  std::string_view start;  ///< the members, wherever they are in it
  std::string_view number;
};

constexpr std::array shapes = {
    Shape{"basic_string<char,", Meaning::text, "_M_p", "_M_string_length"},
    Shape{"basic_string_view<char,", Meaning::text, "_M_str", "_M_len"},
    Shape{"vector<", Meaning::range, "_M_start", "_M_finish"},
    Shape{"span<", Meaning::elements, "_M_ptr", "_M_extent_value"},
    Shape{"initializer_list<", Meaning::elements, "_M_array", "_M_len"},
    Shape{"array<", Meaning::whole, "_M_elems", ""},
    Shape{"optional<", Meaning::optional, "_M_value", "_M_engaged"},
    Shape{"map<", Meaning::counted, "_M_node_count", ""},
    Shape{"multimap<", Meaning::counted, "_M_node_count", ""},
    Shape{"set<", Meaning::counted, "_M_node_count", ""},
    Shape{"multiset<", Meaning::counted, "_M_node_count", ""},
    Shape{"unordered_map<", Meaning::counted, "_M_element_count", ""},
    Shape{"unordered_multimap<", Meaning::counted, "_M_element_count", ""},
    Shape{"unordered_set<", Meaning::counted, "_M_element_count", ""},
    Shape{"unordered_multiset<", Meaning::counted, "_M_element_count", ""},
    Shape{"list<", Meaning::counted, "_M_size", ""},
    Shape{"unique_ptr<", Meaning::whole, "_M_head_impl", ""},
    Shape{"shared_ptr<", Meaning::whole, "_M_ptr", ""},
    Shape{"&str", Meaning::text, "data_ptr", "length"},
    Shape{"&mut str", Meaning::text, "data_ptr", "length"},
    Shape{"&[", Meaning::elements, "data_ptr", "length"},
    Shape{"&mut [", Meaning::elements, "data_ptr", "length"},
    Shape{"String", Meaning::text, "pointer", "len"},
    Shape{"Vec<", Meaning::elements, "pointer", "len"},
};

bool is_whole_name(std::string_view name) {
  return name.find_first_of("<,[", name.size() - 1) == std::string_view::npos;
}

const Shape* shape_of(std::string_view name) {
  const auto fits = [&](const Shape& s) { return is_whole_name(s.name) ? name == s.name : name.starts_with(s.name); };
  const auto found = std::find_if(shapes.begin(), shapes.end(), fits);
  return found == shapes.end() ? nullptr : &*found;
}

spec::Field field(spec::StringRef name, TypeId type, std::uint64_t offset, ExprId condition, bool hidden) {
  spec::Field made;
  made.name = name;
  made.type = type;
  made.offset.fill(static_cast<std::uint32_t>(offset));
  made.condition = condition;
  made.hidden = hidden;
  return made;
}

}  // namespace

/// The member of this name, in the type itself or in its bases and members. `pointer`: whether it must be one.
std::optional<StandardTypes::Part> StandardTypes::part_of(Dwarf_Die die, std::string_view name,
                                                          std::optional<bool> pointer, unsigned depth) {
  constexpr unsigned max_depth = 10;
  std::optional<Part> found;
  std::vector<Part> inner;
  for_each_child(types_, die, [&](Dwarf_Die& child) {
    const int tag = ::dwarf_tag(&child);
    const auto type = type_of(child);
    const auto offset = offset_of(child);
    if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !type || !offset ||
        flag_attribute(child, DW_AT_external) || flag_attribute(child, DW_AT_declaration)) {
      return true;
    }
    TypeReader::Peeled peeled = types_.peel(*type);
    const int own = peeled.is_void ? 0 : ::dwarf_tag(&peeled.die);
    if (name_of(child) == name && pointer.value_or(is_pointer(own)) == is_pointer(own)) {
      found = Part{*type, *offset};
    } else if (is_aggregate(own)) {
      inner.push_back({peeled.die, *offset});
    }
    return !found;
  });
  for (std::size_t i = 0; !found && depth < max_depth && i < inner.size(); ++i) {
    found = part_of(inner[i].type, name, pointer, depth + 1);
    if (found) {
      found->offset += inner[i].offset;
    }
  }
  return found;
}

/// The elements that a type with a pointer to them has. Rust's vectors say it by a parameter alone.
std::optional<Dwarf_Die> StandardTypes::element_of(Dwarf_Die die, Dwarf_Die pointer, bool by_parameter) {
  if (!by_parameter) {
    TypeReader::Peeled peeled = types_.peel(pointer);
    return peeled.is_void ? std::nullopt : type_of(peeled.die);
  }
  std::optional<Dwarf_Die> element;
  for_each_child(types_, die, [&](Dwarf_Die& child) {
    if (::dwarf_tag(&child) == DW_TAG_template_type_parameter && name_of(child) == "T") {
      element = type_of(child);
    }
    return !element;
  });
  return element;
}

ExprId StandardTypes::expression(ExprOp op, spec::Index a, spec::Index b) {
  return into_.add(Expr{op, a, b, 0});
}

/// A type that shows as one of its fields; `size`: of the whole.
StandardTypes::Value StandardTypes::standing_for(std::string_view name, std::uint64_t size,
                                                 const std::vector<spec::Field>& fields) {
  spec::Struct structure;
  structure.name = into_.text(name);
  structure.is_list = true;
  structure.is_spliced = true;  // one field alone, without marks of a list
  structure.layout.size.fill(static_cast<std::uint32_t>(size));
  structure.layout.align.fill(static_cast<std::uint8_t>(word_size_));
  return Value{into_.add(structure, fields), size, static_cast<std::uint8_t>(word_size_)};
}

/// `number`: how many there are or, for a range, the address behind the last. `element`: none for characters.
StandardTypes::Value StandardTypes::run_of(const Run& run) {
  const bool is_text = run.element.id == spec::none;
  const auto word = types_.scalar(spec::word_wide, false, Style::number, "size");
  const auto first = static_cast<spec::FieldId>(into_.tables().fields.size());
  const ExprId start = expression(ExprOp::field, first, spec::none);
  const ExprId number = expression(ExprOp::field, first + 1, spec::none);
  const ExprId nothing = run.is_range ? start : into_.literal(0);
  Type shown;
  shown.kind = is_text ? TypeKind::bytes : TypeKind::array;
  shown.target = is_text ? spec::none : run.element.id;
  shown.name =
      into_.text(is_text ? "text" : std::string(into_.tables().text(into_.tables().types[run.element.id].name)) + "[]");
  shown.length_kind = spec::LengthKind::count;
  shown.length = number;
  if (run.is_range) {
    shown.length = expression(ExprOp::divide, expression(ExprOp::subtract, number, start),
                              into_.literal(static_cast<std::int64_t>(run.element.size)));
  }
  Type empty = shown;
  empty.length = into_.literal(0);
  const spec::StringRef none = into_.text("_");
  return standing_for(
      run.name, run.size,
      {field(none, types_.address(), run.start, spec::none, true), field(none, word, run.number, spec::none, true),
       field(none, types_.pointer_to(into_.add(shown), Direction::in), run.start,
             expression(ExprOp::not_equal, number, nothing), false),
       field(none, into_.add(empty), run.start, expression(ExprOp::equal, number, nothing), false)});
}

/// `{size=2}`: what the elements are would take a walk through the nodes.
StandardTypes::Value StandardTypes::number_of_elements(std::string_view name, std::uint64_t size, std::uint64_t at) {
  const TypeId number = types_.scalar(spec::word_wide, false, Style::number, "size");
  spec::Struct structure;
  structure.name = into_.text(name);
  structure.layout.size.fill(static_cast<std::uint32_t>(size));
  structure.layout.align.fill(static_cast<std::uint8_t>(word_size_));
  return Value{into_.add(structure, {field(into_.text("size"), number, at, spec::none, false)}), size,
               static_cast<std::uint8_t>(word_size_)};
}

/// A value, and whether it is there.
StandardTypes::Value StandardTypes::optional_of(std::string_view name, std::uint64_t size, const Value& value,
                                                std::uint64_t at, std::uint64_t engaged_at) {
  const auto first = static_cast<spec::FieldId>(into_.tables().fields.size());
  const ExprId engaged = expression(ExprOp::field, first, spec::none);
  spec::Constant constant;
  constant.name = into_.text("nullopt");
  spec::ConstantSet set;
  set.name = into_.text("optional");
  Type missing;
  missing.width = 1;
  missing.name = set.name;
  missing.set = into_.add(set, {}, {constant});
  const ExprId zero = into_.literal(0);
  const spec::StringRef none = into_.text("_");
  return standing_for(name, size,
                      {field(none, types_.scalar(1, false, Style::truth, "bool"), engaged_at, spec::none, true),
                       field(none, value.id, at, expression(ExprOp::not_equal, engaged, zero), false),
                       field(none, into_.add(missing), engaged_at, expression(ExprOp::equal, engaged, zero), false)});
}

/// What only holds a pointer.
StandardTypes::Value StandardTypes::pointer_alone(std::string_view name, std::uint64_t size, const Part& part,
                                                  unsigned depth) {
  TypeReader::Peeled pointer = types_.peel(part.type);
  TypeReader::Peeled target = types_.target_of(pointer.die);
  const auto shown = target.is_void ? std::nullopt : types_.target(target, depth + 1);
  const TypeId type = shown ? types_.pointer_to(*shown, Direction::in) : types_.stored_pointer(pointer.die, depth);
  return standing_for(name, size, {field(into_.text("_"), type, part.offset, spec::none, false)});
}

std::optional<StandardTypes::Value> StandardTypes::read(Dwarf_Die die, std::uint64_t size, unsigned depth) {
  const std::string name = name_of(die);
  const Shape* shape = shape_of(name);
  if (shape == nullptr) {
    return std::nullopt;
  }
  const bool is_optional = shape->meaning == Meaning::optional;
  const bool is_counted = shape->meaning == Meaning::counted;
  const bool is_pointer_kind = !is_optional && !is_counted && shape->start != "_M_elems";
  const auto start = part_of(die, shape->start, is_optional ? std::nullopt : std::optional(is_pointer_kind), 0);
  const auto number =
      shape->number.empty() ? std::nullopt : part_of(die, shape->number, shape->meaning == Meaning::range, 0);
  if (!start || (!number && !shape->number.empty()) || start->offset >= size || (number && number->offset >= size)) {
    return std::nullopt;
  }
  if (is_counted) {
    return number_of_elements(name, size, start->offset);
  }
  if (shape->meaning == Meaning::text) {
    return run_of({name, size, start->offset, number->offset, {}, false});
  }
  if (shape->meaning == Meaning::elements || shape->meaning == Meaning::range) {
    const auto type = element_of(die, start->type, shape->name == "Vec<");
    const auto element = type ? types_.value(*type, depth + 1) : std::nullopt;
    return element && element->size != 0 ? std::optional(run_of({name, size, start->offset, number->offset, *element,
                                                                 shape->meaning == Meaning::range}))
                                         : std::nullopt;
  }
  if (is_pointer_kind) {
    return pointer_alone(name, size, *start, depth);
  }
  const auto inner = types_.value(start->type, depth + 1);
  if (!inner || inner->size > size - start->offset) {
    return std::nullopt;
  }
  return is_optional ? optional_of(name, size, *inner, start->offset, number->offset)
                     : standing_for(name, size, {field(into_.text("_"), inner->id, start->offset, spec::none, false)});
}

/// Rust does not promise how it passes structures. References with a length have always been two words, as integers of
/// 128 bits are, and strings and vectors, of three words, have been passed by address.
std::optional<TypeReader::Parameter> StandardTypes::rust_parameter(Dwarf_Die type) {
  TypeReader::Peeled peeled = types_.peel(type);
  const auto passed = types_.parameter(type);
  const bool is_structure = passed && into_.tables().types[passed->type].kind == TypeKind::structure;
  if (!is_structure || !is_returned_as_in_c(type)) {
    return is_structure ? std::nullopt : passed;
  }
  const auto size = unsigned_attribute(peeled.die, DW_AT_byte_size);
  return size && *size > std::uint64_t{2} * word_size_
             ? TypeReader::Parameter{types_.pointer_to(passed->type, Direction::in), false, false}
             : *passed;
}

bool StandardTypes::is_returned_as_in_c(Dwarf_Die type) {
  TypeReader::Peeled peeled = types_.peel(type);
  return !peeled.is_void && ((::dwarf_tag(&peeled.die) == DW_TAG_base_type && word_size_ == 8) ||
                             shape_of(name_of(peeled.die)) != nullptr);
}

StandardTypes::Value StandardTypes::declared_string() {
  return run_of({"std::string", std::uint64_t{4} * word_size_, 0, word_size_, {}, false});
}

StandardTypes::Value StandardTypes::wide_integer(std::string_view name, bool is_signed) {
  constexpr std::uint64_t size = 16;
  constexpr std::uint64_t half = 8;
  constexpr std::int64_t sign_bit = 63;
  std::vector<spec::Field> halves = {
      field(into_.text("high"), types_.scalar(half, false, Style::hex, "u64"), half, spec::none, false),
      field(into_.text("low"), types_.scalar(half, false, Style::hex, "u64"), 0, spec::none, false)};
  spec::Struct both;
  both.name = into_.text(name);
  both.layout.size.fill(size);
  both.layout.align.fill(half);
  const TypeId in_halves = into_.add(both, halves);
  const auto first = static_cast<spec::FieldId>(into_.tables().fields.size());
  const ExprId low = expression(ExprOp::field, first, spec::none);
  const ExprId high = expression(ExprOp::field, first + 1, spec::none);
  const ExprId zero = into_.literal(0);
  const ExprId sign = expression(ExprOp::subtract, zero, expression(ExprOp::shift_right, low, into_.literal(sign_bit)));
  const ExprId extended = is_signed ? sign : zero;
  const TypeId plain = types_.scalar(half, false, Style::number, "u64");
  Value made = standing_for(
      name, size,
      {field(into_.text("_"), plain, 0, spec::none, true), field(into_.text("_"), plain, half, spec::none, true),
       field(into_.text("_"), types_.scalar(half, is_signed, Style::number, name), 0,
             expression(ExprOp::equal, high, extended), false),
       field(into_.text("_"), in_halves, 0, expression(ExprOp::not_equal, high, extended), false)});
  made.alignment = size;
  return made;
}

}  // namespace tracer::debuginfo
