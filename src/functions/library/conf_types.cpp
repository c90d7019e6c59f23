// Parses the types and lenses of ltrace prototype files.
#include <fmt/core.h>
#include <algorithm>
#include <array>
#include <utility>

#include "base/number_text.h"
#include "functions/library/conf_reader.h"

namespace tracer::functions::library {

namespace {

constexpr unsigned max_members = 4096;
constexpr unsigned max_depth = 16;
constexpr std::size_t max_copied_fields = 65536;
constexpr std::uint64_t max_size = std::uint64_t{16} << 20;  ///< of a type, in bytes: descriptions take no larger ones

struct Simple {
  std::string_view name;
  std::string_view type;
  unsigned size;  ///< bytes; 0 for the word size
};
constexpr std::array simple_types = {
    Simple{"short", "i16", 2},
    Simple{"ushort", "u16", 2},
    Simple{"int", "int", 4},
    Simple{"uint", "uint", 4},
    Simple{"long", "long", 0},
    Simple{"ulong", "ulong", 0},
    Simple{"llong", "i64", 8},
    Simple{"ullong", "u64", 8},
    Simple{"float", "float", 4},
    Simple{"double", "double", 8},
    Simple{"char", "u8 as character", 1},
    Simple{"addr", "ptr", 0},
    Simple{"file", "ptr", 0},
};

constexpr std::string_view characters_up_to_zero = "*u8[until 0] as character";

constexpr std::uint64_t padded(std::uint64_t size) {
  constexpr std::uint64_t alignment = 8;
  return (size + alignment - 1) / alignment * alignment;
}

/// Returns the type whose values ltrace takes for a guess: without a sign, but for characters.
std::string guessed(const std::string& base) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> others = {
      {{"u8", "i8"}, {"i16", "u16"}, {"int", "uint"}, {"long", "ulong"}, {"i64", "u64"}}};
  const auto other = std::find_if(others.begin(), others.end(), [&](const auto& each) { return each.first == base; });
  return other == others.end() ? base : std::string(other->second);
}

}  // namespace

std::optional<std::vector<LtraceConf::Lens>> ConfReader::list(unsigned max_count, unsigned depth) {
  std::vector<Lens> lenses;
  if (take(')')) {
    return lenses;
  }
  do {
    const auto found = lens(depth + 1);
    if (!found) {
      return std::nullopt;
    }
    lenses.push_back(*found);
    if (lenses.size() > max_count) {
      return fail("too many types");
    }
  } while (take(','));
  if (!take(')') && !expect(',')) {
    return std::nullopt;
  }
  return lenses;
}

/// Inserts the length before a style: `u8 as hex` becomes `u8[4] as hex`, where the style applies to the elements.
std::string LtraceConf::Lens::array_text() const {
  const auto style = std::min(element.find(" as "), element.size());
  const std::string_view until = ends_at_zero && length != "until 0" ? " until 0" : "";
  return fmt::format("{}[{}{}]{}", element.substr(0, style), length, until, element.substr(style));
}

/// Returns the lens of a pointer to what `target` describes.
LtraceConf::Lens ConfReader::pointer_to(const Lens& target) {
  Lens lens;
  lens.target = target.length.empty() ? target.text : target.array_text();
  // A pointer to void is shown as an address.
  lens.text = lens.target.empty() ? "ptr" : '*' + lens.target;
  lens.is_scalar = lens.target.empty();
  lens.element = target.element;
  lens.element_is_char = target.element_is_char;
  lens.ends_at_zero = target.ends_at_zero;
  lens.element_size = target.element_size;
  lens.element_is_word = target.element_is_word;
  // string() and bitvec() use the length of the target.
  if (!target.length.empty()) {
    lens.length = target.length;
  }
  return lens;
}

/// Returns the lens that shows the bytes of an array.
LtraceConf::Lens ConfReader::bytes_of(const Lens& array, std::string_view style) {
  Lens lens;
  lens.size = array.size;
  std::string length = array.length;
  if (array.element_is_word) {
    length += "*word";
  } else if (array.element_size > 1) {
    length += fmt::format("*{}", array.element_size);
  }
  lens.text = fmt::format("bytes[{}]{}{}", length, style.empty() ? "" : " as ", style);
  return lens;
}

LtraceConf::Lens ConfReader::plain(std::string text, std::string_view characters) {
  Lens lens;
  lens.characters = characters;
  lens.text = std::move(text);
  return lens;
}

/// Returns the lens for text of integers, which `inner` is an array of or a pointer to.
std::optional<LtraceConf::Lens> ConfReader::wide_string(const Lens& inner) {
  const bool is_pointer = !inner.target.empty();
  const std::string element = inner.length.empty() ? inner.target : inner.element;
  constexpr std::array<std::string_view, 8> integers = {"i16", "u16", "int", "uint", "long", "ulong", "i64", "u64"};
  if (std::find(integers.begin(), integers.end(), element) == integers.end()) {
    return inner;
  }
  const bool is_limited = !inner.length.empty() && inner.length != "until 0";
  Lens text;
  text.size = inner.size;
  text.characters = inner.text;
  text.target =
      is_limited ? fmt::format("custom wide_array : {}[{}]", element, inner.length) : "custom wide_text : " + element;
  if (!is_pointer) {
    std::swap(text.text, text.target);
    return text;
  }
  text.text = '*' + text.target;
  return text;
}

std::optional<LtraceConf::Lens> ConfReader::string(std::string_view digits, unsigned depth) {
  Lens text;
  text.element = "u8 as character";
  if (!digits.empty()) {  // string3: at most the value of argument 3; string0: at most the result
    text.length = digits == "0" ? "ret" : 'a' + std::string(digits);
    text.ends_at_zero = true;
  } else if (take('[')) {
    auto length = expression(text.ends_at_zero);
    if (!length || !expect(']')) {
      return std::nullopt;
    }
    text.length = *length;
    text.ends_at_zero = true;
  } else if (take('(')) {
    const auto inner = lens(depth + 1);
    if (!inner || !expect(')')) {
      return std::nullopt;
    }
    const bool is_pointer = !inner->target.empty();
    if (inner->is_scalar && !is_pointer) {
      return restyled_lens(*inner, "character", depth);
    }
    if (inner->target == "u8 as character") {
      return plain("str", characters_up_to_zero);  // char*
    }
    if (!inner->element_is_char) {
      return wide_string(*inner);
    }
    text = *inner;
    text.target.clear();
    if (!is_pointer) {
      Lens bytes = text.length == "until 0" ? plain("cstr") : bytes_of(text, text.ends_at_zero ? "terminated" : "");
      bytes.is_array = true;
      bytes.characters = text.array_text();
      return bytes;
    }
  } else {
    return plain("str", characters_up_to_zero);
  }
  if (text.length == "until 0") {
    return plain("str", characters_up_to_zero);
  }
  Lens bytes = bytes_of(text, text.ends_at_zero ? "terminated" : "");
  bytes.target = bytes.text;
  bytes.text = '*' + bytes.text;
  bytes.characters = '*' + text.array_text();
  return bytes;
}

std::optional<LtraceConf::Lens> ConfReader::array(unsigned depth) {
  if (!expect('(')) {
    return std::nullopt;
  }
  const auto element = lens(depth + 1);
  if (!element || !expect(',')) {
    return std::nullopt;
  }
  Lens lens;
  lens.element = element->text;
  if (lens.element.find_first_of("*[:") != std::string::npos) {
    lens.element = declare_type(lens.element);
  }
  lens.element_is_char = element->is_char;
  lens.is_incomplete = conf_.is_incomplete(*element);
  if (element->length.empty()) {
    lens.element_size = element->element_size;
    lens.element_is_word = element->element_is_word;
  }
  const auto length = expression(lens.ends_at_zero);
  if (!length || !expect(')') || lens.element.empty()) {
    return fail("no `array(LENS, EXPR)`");
  }
  lens.length = *length;
  lens.text = lens.array_text();
  if (const auto count = whole_number<std::uint64_t>(lens.length)) {
    lens.size = padded(std::min(*count, max_size + 1) * (lens.element_size != 0 ? lens.element_size : element->size));
  }
  return lens.size <= max_size ? std::optional(lens) : refuse("too large a type");
}

std::optional<LtraceConf::Lens> ConfReader::enumeration(unsigned depth) {
  Lens base = plain("int");
  base.is_scalar = true;
  if (take('[')) {
    const auto given = lens_of(identifier(), depth + 1);
    if (given && (!given->is_scalar || given->text.starts_with("ltrace_") || given->text == "float" ||
                  given->text == "double")) {
      return refuse("integral type required as enum argument");
    }
    if (!given || !expect(']')) {
      return std::nullopt;
    }
    base = *given;
  }
  if (!expect('(')) {
    return std::nullopt;
  }
  if (take(')')) {
    return base;
  }
  std::string members;
  std::int64_t next = 0;
  unsigned count = 0;
  do {
    const std::string name(identifier());
    if (name.empty() || ++count > max_members) {
      return fail("too many names");
    }
    if (take('=')) {
      const auto value = integer();
      if (!value) {
        return std::nullopt;
      }
      next = *value;
    }
    members += fmt::format(" {}={}", name, next++);
  } while (take(','));
  if (!take(')') && !expect(',')) {
    return std::nullopt;
  }
  ++conf_.declared_;
  Lens lens = base;
  lens.is_char = false;
  lens.text = declared_name("enum");
  conf_.shown_as_[lens.text] = base.text;
  // A value without a name shows as the type below does.
  const auto style = std::min(base.text.find(" as "), base.text.size());
  conf_.items_ +=
      fmt::format("enum {} : {}{} {{{} }}\n", lens.text, base.text == "ptr" ? "ulong" : base.text.substr(0, style),
                  style < base.text.size() ? base.text.substr(style) : " as number", members);
  return lens;
}

std::optional<LtraceConf::Lens> ConfReader::structure(std::string_view name, unsigned depth) {
  if (!expect('(')) {
    return std::nullopt;
  }
  const bool was_in_struct = std::exchange(in_struct_, true);
  auto fields = list(max_conf_fields, depth);
  in_struct_ = was_in_struct;
  if (!fields) {
    return std::nullopt;
  }
  std::string own_name(name);
  if (own_name.empty()) {
    ++conf_.declared_;
    own_name = declared_name("struct");
  }
  Lens lens;
  lens.text = own_name;
  lens.is_struct = true;
  lens.size = 0;
  unsigned number = 0;
  for (const Lens& field : *fields) {
    ++number;
    lens.size += field.size;
    // What a field points to may have a length that follows.
    const auto known = static_cast<unsigned>(field.text.starts_with('*') ? fields->size() : number - 1);
    if (field.text.empty() || field.is_format || mentions_more_than(field.text, 'e', known) ||
        mentions_more_than(field.text, 'a', 0) || conf_.is_incomplete(field)) {
      return fail("a field cannot have this type");
    }
  }
  if (lens.size > max_size) {
    return refuse("too large a type");
  }
  declare_structure(own_name, std::move(*fields));
  return lens;
}

std::string ConfReader::declare_type(const std::string& shown_as) {
  ++conf_.declared_;
  std::string name = declared_name("type");
  conf_.items_ += fmt::format("type {} = {}\n", name, shown_as);
  conf_.shown_as_[name] = shown_as;
  return name;
}

void ConfReader::declare_structure(const std::string& name, std::vector<Lens> fields) {
  std::string text = fmt::format("struct {} {{", name);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    text += fmt::format(" {}: {}", fields[i].is_hidden ? "_" : fmt::format("e{}", i + 1), fields[i].text);
  }
  conf_.items_ += text + " }\n";
  conf_.undefined_.erase(name);
  conf_.fields_[name] = std::move(fields);
}

/// Returns the name of a structure whose fields have another style; it is the given one if it is not defined yet.
std::string ConfReader::restyled_structure(const std::string& name, std::string_view style, unsigned depth) {
  const auto original = conf_.fields_.find(name);
  if (original == conf_.fields_.end() || depth > max_depth) {
    return name;
  }
  const auto [copy, is_new] = copies_.try_emplace({name, std::string(style)});
  if (!is_new) {
    return copy->second;
  }
  conf_.copied_fields_ += original->second.size();
  if (conf_.copied_fields_ > max_copied_fields) {
    refuse("too many lenses over structures");
    return copy->second = name;
  }
  ++conf_.declared_;
  copy->second = declared_name("struct");  // fields may point to it
  std::vector<Lens> fields;
  for (const Lens& field : original->second) {
    fields.push_back(restyled_lens(field, style, depth + 1));
  }
  declare_structure(copy->second, std::move(fields));
  return copy->second;
}

/// Returns the type with another style for the numbers that it consists of or leads to; as it is if these are none.
std::string ConfReader::restyled(const std::string& type, std::string_view style, unsigned depth) {
  const auto end = std::min(type.find(" as "), type.size());
  const auto start = std::min(type.find_first_not_of('*'), end);
  const auto bracket = std::min(type.find('[', start), end);
  std::string base = type.substr(start, bracket - start);
  const auto with = [&](std::string_view other) {
    return fmt::format("{}{}{}", type.substr(0, start), other, type.substr(bracket, end - bracket));
  };
  if (conf_.fields_.contains(base)) {
    return with(restyled_structure(base, style, depth));
  }
  if (const auto known = conf_.shown_as_.find(base); known != conf_.shown_as_.end()) {
    const std::string shown_as = restyled(known->second, style, depth + 1);
    if (shown_as.find_first_of("*[:") != std::string::npos) {
      return with(shown_as == known->second ? base : declare_type(shown_as));
    }
    const auto own_style = std::min(shown_as.find(" as "), shown_as.size());
    return with(shown_as.substr(0, own_style)) + shown_as.substr(own_style);
  }
  const bool floating = base == "float" || base == "double";
  const auto is_base = [&](const Simple& simple) { return simple.type.substr(0, simple.type.find(" as ")) == base; };
  if (std::none_of(simple_types.begin(), simple_types.end(), is_base) || base == "ptr" ||
      (floating && style != "hex")) {
    return type;
  }
  if (style == "guess") {
    base = guessed(base);
  }
  return fmt::format("{} as {}", with(base), floating ? "hex_floating" : style);
}

LtraceConf::Lens ConfReader::restyled_lens(Lens lens, std::string_view style, unsigned depth) {
  lens.text = restyled(lens.text, style, depth);
  lens.target = restyled(lens.target, style, depth);
  lens.element = restyled(lens.element, style, depth);
  lens.is_char = false;
  lens.element_is_char = false;
  return lens;
}

/// Parses a lens that formats a scalar or the bytes of an array, such as `hex(TYPE)`.
std::optional<LtraceConf::Lens> ConfReader::styled(std::string_view style, unsigned depth) {
  if (!expect('(')) {
    return std::nullopt;
  }
  auto inner = lens(depth + 1);
  if (!inner || !expect(')')) {
    return std::nullopt;
  }
  if (style == "hide") {
    inner->is_hidden = true;
    return inner;
  }
  if (style == "bits" && !inner->length.empty() && inner->length != "until 0" &&
      (inner->element_size != 0 || inner->element_is_word)) {
    const bool is_pointer = !inner->target.empty();
    Lens array = bytes_of(*inner, style);
    if (is_pointer) {
      array.target = array.text;
      array.text = '*' + array.text;
    }
    return array;
  }
  if (style != "bits" && !inner->characters.empty()) {
    *inner = plain(inner->characters);  // text in a structure stays text
  }
  inner = style == "bits" ? bits_of(*inner) : restyled_lens(*inner, style, depth);
  return error_.empty() ? inner : std::nullopt;
}

/// Returns the lens that shows which bits are set in a value, or in what a pointer leads to.
LtraceConf::Lens ConfReader::bits_of(const Lens& inner) {
  const std::string& given = inner.target.empty() ? inner.text : inner.target;
  const std::string type = given.substr(0, given.find(" as "));
  constexpr std::array<std::string_view, 5> no_fixed_integers = {"long", "ulong", "ptr", "float", "double"};
  const bool by_bytes =
      std::find(no_fixed_integers.begin(), no_fixed_integers.end(), type) != no_fixed_integers.end() ||
      type.starts_with("ltrace_struct_") || type.starts_with("ltrace_type_");
  if (!by_bytes) {
    return restyled_lens(inner, "bits", 0);
  }
  Lens bits = plain("custom set_bits : " + type);
  if (!inner.target.empty()) {
    bits.target = bits.text;
    bits.text = '*' + bits.target;
  }
  return bits;
}

std::optional<LtraceConf::Lens> ConfReader::lens_of(std::string_view name, unsigned depth) {
  const auto simple =
      std::find_if(simple_types.begin(), simple_types.end(), [&](const Simple& s) { return s.name == name; });
  if (simple != simple_types.end()) {
    Lens lens = plain(std::string(simple->type));
    lens.is_scalar = true;
    lens.is_char = name == "char";
    lens.element_size = simple->size;
    lens.element_is_word = simple->size == 0;
    return lens;
  }
  if (name == "void") {
    return Lens{};
  }
  if (name.starts_with("string") &&
      std::all_of(name.begin() + 6, name.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return string(name.substr(6), depth);
  }
  if (name == "format") {
    Lens text = plain("str", characters_up_to_zero);
    if (take('(')) {
      const auto given = lens(depth + 1);
      if (!given || !take(')')) {
        return fail("no `format(LENS)`");
      }
      text = *given;
    }
    text.is_format = true;
    return text;
  }
  if (name == "array") {
    return array(depth);
  }
  if (name == "struct") {
    return structure({}, depth);
  }
  if (name == "enum") {
    return enumeration(depth);
  }
  if (name == "octal" && !is_at('(')) {
    Lens lens = plain("int as octal");
    lens.is_scalar = true;
    lens.element_size = 4;
    return lens;
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> styles = {{{"hex", "hex"},
                                                                                    {"oct", "octal"},
                                                                                    {"octal", "octal"},
                                                                                    {"bin", "binary"},
                                                                                    {"hide", "hide"},
                                                                                    {"bool", "truth"},
                                                                                    {"bitvec", "bits"},
                                                                                    {"guess", "guess"}}};
  for (const auto& [known, style] : styles) {
    if (known == name) {
      return styled(style, depth);
    }
  }
  const auto alias = conf_.types_.find(name);
  if (alias == conf_.types_.end()) {
    // `name` is what was last taken of the line.
    return refuse(fmt::format("unknown type around '{}{}'", name, rest_.substr(0, 40)));
  }
  return alias->second;
}

std::optional<LtraceConf::Lens> ConfReader::lens(unsigned depth) {
  if (depth > max_depth) {
    return fail("too deep a type");
  }
  const auto name = identifier();
  if (name.empty()) {
    return std::nullopt;
  }
  auto found = lens_of(name, depth);
  while (found && take('*')) {
    found = pointer_to(*found);
    if (found->text.size() > 512) {
      return fail("too long a type");
    }
  }
  return found;
}

}  // namespace tracer::functions::library
