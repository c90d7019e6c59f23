// The compiler's word against ours: the structs of the descriptions as C, with sizes and offsets asserted by clang.
#include <unistd.h>
#include <algorithm>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "catch.h"
#include "skip.h"

#include "sysc/compile.h"
#include "sysc/parser.h"

namespace tracer::sysc {

namespace {

constexpr std::array<const char*, abi_count> targets = {"x86_64-linux-gnu", "i386-linux-gnu", "x86_64-linux-gnux32",
                                                        "aarch64-linux-gnu", "arm-linux-gnueabihf"};

const std::map<std::string, std::string> c_scalars = {
    {"i8", "signed char"},   {"i16", "short"},          {"i32", "int"},      {"i64", "long long"},
    {"u8", "unsigned char"}, {"u16", "unsigned short"}, {"u32", "unsigned"}, {"u64", "unsigned long long"},
    {"int", "int"},          {"uint", "unsigned"},      {"long", "long"},    {"ulong", "unsigned long"},
    {"hex", "int"}};

/// What a struct is called in C; the header of an attribute has a dot in its name.
std::string c_type(bool overlay, std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return (overlay ? "union s_" : "struct s_") + name;
}

/// Writes structs as C, from the syntax tree alone.
class CWriter {
 public:
  CWriter(const ast::Program& program, Abi abi) : abi_(abi) {
    for (const auto& item : program.items) {
      if (const auto* alias = std::get_if<ast::Alias>(&item)) {
        aliases_[alias->name.text] = &alias->type;
      } else if (const auto* set = std::get_if<ast::Set>(&item)) {
        sets_[set->name.text] = set;
      } else if (const auto* structure = std::get_if<ast::Struct>(&item)) {
        structs_[structure->name.text] = structure;
      }
    }
  }

  /// Whether the struct can be said in C; then text() has it, and what it is made of.
  bool write(const std::string& name) {
    if (const auto known = written_.find(name); known != written_.end()) {
      return known->second;
    }
    written_[name] = false;
    const auto& structure = *structs_.at(name);
    const bool overlay = structure.kind == spec::StructKind::overlay;
    std::string body = c_type(overlay, name) + " {\n";
    std::size_t number = 0;
    for (const auto& field : structure.fields) {
      const auto declared = declaration(field.type, "f" + std::to_string(number++));
      // C has no field that lies over others.
      if (!declared || structure.kind == spec::StructKind::stream || field.offset != nullptr) {
        return false;
      }
      body += "  " + *declared + ";\n";
    }
    const bool packed = (structure.packed & mask_of(abi_)) != 0;
    text_ += body + (packed ? "} __attribute__((packed));\n" : "};\n");
    return written_[name] = true;
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::optional<std::string> declaration(const ast::Type& type, const std::string& plain_name) {
    const std::string name = type.bit_count == 0 ? plain_name : plain_name + " : " + std::to_string(type.bit_count);
    if (type.width) {
      return scalar(type.width->text, name);
    }
    if (const auto* pointer = std::get_if<ast::Pointer>(&type.node)) {
      return (pointer->wide ? "unsigned long long " : "void *") + name;
    }
    if (const auto* array = std::get_if<ast::Array>(&type.node)) {
      const auto count = constant(array->length);
      return count ? declaration(*array->element, name + "[" + std::to_string(*count) + "]") : std::nullopt;
    }
    const auto characters = [&](const ast::Length& length) -> std::optional<std::string> {
      const auto count = constant(length);
      return count ? std::optional("char " + name + "[" + std::to_string(*count) + "]") : std::nullopt;
    };
    if (const auto* bytes = std::get_if<ast::Bytes>(&type.node)) {
      return characters(bytes->length);
    }
    if (const auto* text = std::get_if<ast::Text>(&type.node)) {
      return text->length ? characters(*text->length) : std::nullopt;
    }
    if (const auto* custom = std::get_if<ast::Custom>(&type.node)) {
      return custom->memory ? declaration(*custom->memory, name) : std::nullopt;
    }
    return named(std::get<ast::Named>(type.node).name, name);
  }

  std::optional<std::string> named(const std::string& type, const std::string& name) {
    if (const auto alias = aliases_.find(type); alias != aliases_.end()) {
      return declaration(*alias->second, name);
    }
    if (const auto set = sets_.find(type); set != sets_.end()) {
      return scalar(set->second->width ? set->second->width->text : "uint", name);
    }
    if (const auto structure = structs_.find(type); structure != structs_.end()) {
      const bool overlay = structure->second->kind == spec::StructKind::overlay;
      return write(type) ? std::optional(c_type(overlay, type) + " " + name) : std::nullopt;
    }
    return scalar(type, name);
  }

  static std::optional<std::string> scalar(const std::string& type, const std::string& name) {
    const auto found = c_scalars.find(type);
    return found == c_scalars.end() ? std::nullopt : std::optional(found->second + " " + name);
  }

  static std::optional<std::int64_t> constant(const ast::Length& length) {
    const auto* literal = length.count == nullptr ? nullptr : std::get_if<ast::Literal>(&length.count->node);
    return length.kind == spec::LengthKind::count && literal != nullptr ? std::optional(literal->value) : std::nullopt;
  }

  Abi abi_;
  std::map<std::string, const ast::Type*> aliases_;
  std::map<std::string, const ast::Set*> sets_;
  std::map<std::string, const ast::Struct*> structs_;
  std::map<std::string, bool> written_;
  std::string text_;
};

/// C that compiles if and only if every layout in the tables is the compiler's.
std::string assertions(const ast::Program& program, const spec::Tables& tables, Abi abi, std::size_t& count) {
  CWriter writer(program, abi);
  const auto a = index_of(abi);
  std::string checks;
  spec::Index index = 0;
  for (const auto& item : program.items) {
    const auto* structure = std::get_if<ast::Struct>(&item);
    if (structure == nullptr) {
      continue;
    }
    const auto& row = tables.structs[index++];
    if (row.variable || !writer.write(structure->name.text)) {
      continue;
    }
    const auto type = c_type(structure->kind == spec::StructKind::overlay, structure->name.text);
    const auto expect = [&](const std::string& what, std::uint32_t value) {
      checks += "_Static_assert(" + what + " == " + std::to_string(value) + ", \"" + structure->name.text + "\");\n";
      ++count;
    };
    expect("sizeof(" + type + ")", row.layout.size[a]);
    for (const auto& field : spec::Tables::slice(tables.fields, row.fields)) {
      const auto name = tables.text(field.name);
      for (std::size_t i = 0; i < structure->fields.size() && name != "_"; ++i) {
        const bool has_address = structure->fields[i].type.bit_count == 0;
        if (structure->fields[i].name.text == name && has_address) {
          expect("__builtin_offsetof(" + type + ", f" + std::to_string(i) + ")", field.offset[a]);
        }
      }
    }
  }
  return writer.text() + checks;
}

}  // namespace

TEST_CASE("layouts are those of a C compiler on every ABI") {
  if (std::string(CLANG).empty()) {
    SKIP("there is no clang");
  }
  const auto path = GENERATE(as<std::string>{}, SYSC_TESTS "/layouts.sys", DESCRIPTIONS);
  const auto sources = read_sources({path});
  Diagnostics diagnostics;
  const auto program = parse(sources, diagnostics);
  const auto set = compile(sources, diagnostics, {true, false});
  for (std::size_t i = 0; i < abi_count; ++i) {
    INFO(targets[i]);
    std::size_t count = 0;
    const auto file = "/tmp/sysc-layout-" + std::to_string(getpid()) + ".c";
    std::ofstream(file) << assertions(program, set.view(), static_cast<Abi>(i), count);
    const auto command = std::string(CLANG) + " -target " + targets[i] + " -ffreestanding -fsyntax-only -w " + file;
    CHECK(std::system(command.c_str()) == 0);
    CHECK(count > 20);
    std::remove(file.c_str());
  }
}

}  // namespace tracer::sysc
