#include "debuginfo/standard_types.h"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "debuginfo/attributes.h"

namespace tracer::debuginfo {

/// The members by which a type is known.
struct StandardShape {
  /// What a type stands for.
  enum class Meaning : std::uint8_t {
    text,      ///< `number` characters from `start`
    elements,  ///< `number` elements from `start`
    range,     ///< the elements from `start` to `number`, an address
    whole,     ///< what `start` is
    optional,  ///< `start`, if `number` is not 0
    counted,   ///< `start` elements, in nodes of their own
  };

  std::string_view name;  ///< how the type's name starts; without a bracket or a comma at the end, all of it
  Meaning meaning;
  std::string_view start;  ///< the members, wherever they are in it; `a.b`: b in a
  std::string_view number;
};

namespace {

using spec::Direction;
using spec::Expr;
using spec::ExprId;
using spec::ExprOp;
using spec::Style;
using spec::Type;
using spec::TypeId;
using spec::TypeKind;

using Shape = StandardShape;
using Meaning = StandardShape::Meaning;

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
    Shape{"basic_string_view<char,", Meaning::text, "__data", "__size"},  // libc++, as what follows
    Shape{"basic_string_view<char,", Meaning::text, "__data_", "__size_"},
    Shape{"vector<", Meaning::range, "__begin_", "__end_"},
    Shape{"span<", Meaning::elements, "__data", "__size"},
    Shape{"span<", Meaning::elements, "__data_", "__size_"},
    Shape{"initializer_list<", Meaning::elements, "__begin_", "__size_"},
    Shape{"array<", Meaning::whole, "__elems_", ""},
    Shape{"optional<", Meaning::optional, "__val_", "__engaged_"},
    Shape{"map<", Meaning::counted, "__pair3_.__value_", ""},
    Shape{"multimap<", Meaning::counted, "__pair3_.__value_", ""},
    Shape{"set<", Meaning::counted, "__pair3_.__value_", ""},
    Shape{"multiset<", Meaning::counted, "__pair3_.__value_", ""},
    Shape{"unordered_map<", Meaning::counted, "__p2_.__value_", ""},
    Shape{"unordered_multimap<", Meaning::counted, "__p2_.__value_", ""},
    Shape{"unordered_set<", Meaning::counted, "__p2_.__value_", ""},
    Shape{"unordered_multiset<", Meaning::counted, "__p2_.__value_", ""},
    Shape{"list<", Meaning::counted, "__size_alloc_.__value_", ""},
    Shape{"unique_ptr<", Meaning::whole, "__value_", ""},
    Shape{"unique_ptr<", Meaning::whole, "__ptr_", ""},
    Shape{"shared_ptr<", Meaning::whole, "__ptr_", ""},
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

bool has_shape(std::string_view name, const Shape& shape) {
  return is_whole_name(shape.name) ? name == shape.name : name.starts_with(shape.name);
}

}  // namespace

spec::Field StandardTypes::field(spec::StringRef name, TypeId type, std::uint64_t offset, ExprId condition,
                                 bool hidden) {
  spec::Field made;
  made.name = name;
  made.type = type;
  made.offset.fill(static_cast<std::uint32_t>(offset));
  made.condition = condition;
  made.hidden = hidden;
  return made;
}

/// The member of this name, in the type itself or in its bases and members. `pointer`: whether it must be one.
std::optional<StandardTypes::Part> StandardTypes::part_of(Dwarf_Die die, std::string_view name,
                                                          std::optional<bool> pointer, unsigned depth) {
  if (const auto dot = name.find('.'); dot != std::string_view::npos) {
    const auto outer = part_of(die, name.substr(0, dot), false, depth);
    const TypeReader::Peeled peeled = outer ? types_.peel(outer->type) : TypeReader::Peeled{};
    auto found = peeled.is_void ? std::nullopt : part_of(peeled.die, name.substr(dot + 1), pointer, depth);
    if (found) {
      found->offset += outer->offset;
    }
    return found;
  }
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
  std::optional<Value> made = small_text(die, name, size);
  for (std::size_t i = 0; !made && i < shapes.size(); ++i) {
    made = has_shape(name, shapes[i]) ? read_as(die, shapes[i], size, depth) : std::nullopt;
  }
  if (!made && name.starts_with("tuple<")) {
    made = tuple(die, name, size, depth);
  }
  if (!made) {
    made = variants(die, name, size, depth);
  }
  return made ? made : numbered(die, name, size, depth);
}

std::optional<StandardTypes::Value> StandardTypes::read_as(Dwarf_Die die, const StandardShape& shape,
                                                           std::uint64_t size, unsigned depth) {
  const std::string name = name_of(die);
  const bool is_optional = shape.meaning == Meaning::optional;
  const bool is_counted = shape.meaning == Meaning::counted;
  const bool is_array = shape.start == "_M_elems" || shape.start == "__elems_";
  const bool is_pointer_kind = !is_optional && !is_counted && !is_array;
  const auto start = part_of(die, shape.start, is_optional ? std::nullopt : std::optional(is_pointer_kind), 0);
  const auto number =
      shape.number.empty() ? std::nullopt : part_of(die, shape.number, shape.meaning == Meaning::range, 0);
  if (!start || (!number && !shape.number.empty()) || start->offset >= size || (number && number->offset >= size)) {
    return std::nullopt;
  }
  if (is_counted) {
    return number_of_elements(name, size, start->offset);
  }
  if (shape.meaning == Meaning::text) {
    return run_of({name, size, start->offset, number->offset, {}, false});
  }
  if (shape.meaning == Meaning::elements || shape.meaning == Meaning::range) {
    const auto type = element_of(die, start->type, shape.name == "Vec<");
    const auto element = type ? types_.value(*type, depth + 1) : std::nullopt;
    return element && element->size != 0 ? std::optional(run_of({name, size, start->offset, number->offset, *element,
                                                                 shape.meaning == Meaning::range}))
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

StandardTypes::Value StandardTypes::declared_string() {
  return run_of({"std::string", std::uint64_t{4} * word_size_, 0, word_size_, {}, false});
}

StandardTypes::Value StandardTypes::in_memory(const Value& result) {
  constexpr std::uint64_t most_in_words = 16;
  constexpr std::uint64_t most_in_vectors = 64;  // aarch64, if each member is a number of the same floating type
  if (result.size > most_in_vectors) {
    return result;
  }
  const std::string name(into_.tables().text(into_.tables().types[result.id].name));
  return standing_for(name, std::max(result.size, most_in_words) + 1,
                      {field(into_.text("_"), result.id, 0, spec::none, false)});
}

/// A string of libc++ has few characters in itself; its first byte says so by its lowest bit, and how many there are by
/// the others.
std::optional<StandardTypes::Value> StandardTypes::small_text(Dwarf_Die die, std::string_view name,
                                                              std::uint64_t size) {
  if (!name.starts_with("basic_string<char,") || size != std::uint64_t{3} * word_size_) {
    return std::nullopt;
  }
  const auto capacity = part_of(die, "__cap_", false, 0);
  const auto number = part_of(die, "__size_", false, 0);
  const auto data = part_of(die, "__data_", true, 0);
  if (!capacity || !number || !data || capacity->offset != 0 || number->offset != word_size_ ||
      data->offset != std::uint64_t{2} * word_size_) {
    return std::nullopt;
  }
  const auto first = static_cast<spec::FieldId>(into_.tables().fields.size());
  const ExprId mark = expression(ExprOp::field, first, spec::none);
  const ExprId is_elsewhere = expression(ExprOp::bit_and, mark, into_.literal(1));
  const ExprId zero = into_.literal(0);
  Type text;
  text.kind = TypeKind::bytes;
  text.name = into_.text("text");
  text.length_kind = spec::LengthKind::count;
  Type inside = text;
  inside.length = expression(ExprOp::shift_right, mark, into_.literal(1));
  text.length = expression(ExprOp::field, first + 1, spec::none);
  const spec::StringRef none = into_.text("_");
  return standing_for(
      name, size,
      {field(none, types_.scalar(1, false, Style::number, "u8"), 0, spec::none, true),
       field(none, types_.scalar(spec::word_wide, false, Style::number, "size"), number->offset, spec::none, true),
       field(none, types_.pointer_to(into_.add(text), Direction::in), data->offset,
             expression(ExprOp::not_equal, is_elsewhere, zero), false),
       field(none, into_.add(inside), 1, expression(ExprOp::equal, is_elsewhere, zero), false)});
}

/// Adds the elements of a tuple: libstdc++ has them in bases of bases, libc++ in bases of a member.
void StandardTypes::add_elements(Dwarf_Die die, std::uint64_t offset, unsigned depth,
                                 std::map<unsigned long, Part>& elements) {
  constexpr unsigned max_depth = 40;
  std::vector<Part> inner;
  for_each_child(types_, die, [&](Dwarf_Die& child) {
    const int tag = ::dwarf_tag(&child);
    const auto type = tag == DW_TAG_member || tag == DW_TAG_inheritance ? type_of(child) : std::nullopt;
    const auto at = offset_of(child);
    TypeReader::Peeled part = type && at ? types_.peel(*type) : TypeReader::Peeled{};
    const std::string name = part.is_void ? "" : name_of(part.die);
    const bool is_head = name.starts_with("_Head_base<");
    if (is_head || name.starts_with("__tuple_leaf<")) {
      const auto element = part_of(part.die, is_head ? "_M_head_impl" : "__value_", std::nullopt, 0);
      if (element) {
        elements[std::strtoul(name.c_str() + name.find('<') + 1, nullptr, 10)] = {element->type,
                                                                                  offset + *at + element->offset};
      }
    } else if (name.starts_with("_Tuple_impl<") || name.starts_with("__tuple_impl<")) {
      inner.push_back({part.die, offset + *at});
    }
    return true;
  });
  for (std::size_t i = 0; depth < max_depth && i < inner.size(); ++i) {
    add_elements(inner[i].type, inner[i].offset, depth + 1, elements);
  }
}

std::optional<StandardTypes::Value> StandardTypes::tuple(Dwarf_Die die, std::string_view name, std::uint64_t size,
                                                         unsigned depth) {
  std::map<unsigned long, Part> elements;
  add_elements(die, 0, 0, elements);
  std::vector<Part> parts;
  parts.reserve(elements.size());
  for (const auto& [index, part] : elements) {
    parts.push_back(part);
  }
  return list_of(name, size, parts, depth);
}

/// A structure whose members have no names worth showing.
std::optional<StandardTypes::Value> StandardTypes::list_of(std::string_view name, std::uint64_t size,
                                                           const std::vector<Part>& parts, unsigned depth) {
  std::vector<spec::Field> fields;
  std::uint8_t alignment = 1;
  for (const Part& part : parts) {
    const auto value = types_.value(part.type, depth + 1);
    if (!value || part.offset > size || value->size > size - part.offset) {
      return std::nullopt;
    }
    fields.push_back(field(into_.text("_"), value->id, part.offset, spec::none, false));
    alignment = std::max(alignment, value->alignment);
  }
  if (fields.empty()) {
    return std::nullopt;
  }
  spec::Struct structure;
  structure.name = into_.text(name);
  structure.is_list = true;
  structure.layout.size.fill(static_cast<std::uint32_t>(size));
  structure.layout.align.fill(alignment);
  return Value{into_.add(structure, fields), size, alignment};
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
