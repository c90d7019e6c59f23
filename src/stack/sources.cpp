#include "stack/sources.h"

#include <dwarf.h>

#include <memory>
#include <unordered_map>

#include "debuginfo/debug_file.h"
#include "debuginfo/scopes.h"
#include "stack/symbols.h"

namespace tracer::stack {

namespace {

/// By the address of its declaration's DIE. To find what a declaration is in, libdw looks through the whole unit.
using QualifiedNames = std::unordered_map<const void*, std::string>;

/// Returns `space::Class::name` for a function without a linkage name. A function-local class adds no prefix.
std::string qualified_name(Dwarf_Die* die, QualifiedNames& known) {
  Dwarf_Die declaration = debuginfo::declaration_of(*die);
  const auto [at, is_new] = known.try_emplace(declaration.addr);
  std::string& name = at->second;
  if (!is_new) {
    return name;
  }
  name = debuginfo::bounded(::dwarf_diename(die));
  debuginfo::Scopes owner;
  for (Dwarf_Die& scope : debuginfo::scopes_around(&declaration, owner)) {
    const int tag = ::dwarf_tag(&scope);
    const bool named =
        tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
    if (scope.addr == declaration.addr) {
      continue;
    }
    const std::string prefix = named ? debuginfo::bounded(::dwarf_diename(&scope)) : std::string();
    if (prefix.empty() || name.size() > debuginfo::max_name_size) {
      break;
    }
    name.insert(0, "::").insert(0, prefix);
  }
  return name;
}

std::string function_name(Dwarf_Die* die, QualifiedNames& known) {
  for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute value;
    if (::dwarf_attr_integrate(die, attribute, &value) != nullptr) {
      const std::string mangled = debuginfo::bounded(::dwarf_formstring(&value));
      if (!mangled.empty()) {
        return demangle(mangled);
      }
    }
  }
  return qualified_name(die, known);
}

/// Sets the file and line of the call that was inlined.
void set_call_site(Dwarf_Die* unit, Dwarf_Die* inlined, SourceLocation& location) {
  Dwarf_Attribute attribute;
  Dwarf_Word file = 0;
  Dwarf_Word line = 0;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (::dwarf_attr(inlined, DW_AT_call_file, &attribute) != nullptr && ::dwarf_formudata(&attribute, &file) == 0 &&
      ::dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count) {
    location.file = debuginfo::bounded(::dwarf_filesrc(files, static_cast<std::size_t>(file), nullptr, nullptr));
  }
  if (::dwarf_attr(inlined, DW_AT_call_line, &attribute) != nullptr && ::dwarf_formudata(&attribute, &line) == 0) {
    location.line = static_cast<unsigned>(line);
  }
}

std::vector<SourceLocation> locations_at(const debuginfo::DebugFile& file, QualifiedNames& known, std::uint64_t address,
                                         unsigned adjustment) {
  std::vector<SourceLocation> locations;
  Dwfl_Module* const module = file.module();
  if (module == nullptr) {
    return locations;
  }
  Dwarf_Addr bias = 0;
  SourceLocation location;
  if (Dwarf_Die* const unit = file.unit_of(address, bias)) {
    if (Dwarf_Line* const line = ::dwarf_getsrc_die(unit, address - bias)) {
      int number = 0;
      ::dwarf_lineno(line, &number);
      location.line = number > 0 ? static_cast<unsigned>(number) : 0;
      location.file = debuginfo::bounded(::dwarf_linesrc(line, nullptr, nullptr));
    }
    debuginfo::Scopes owner;
    constexpr std::size_t max_inlined = 256;
    constexpr std::size_t max_inlined_bytes = std::size_t{256} << 10;  // of their names
    std::size_t bytes = 0;
    for (Dwarf_Die& scope : debuginfo::scopes_at(unit, address - bias, owner)) {
      const int tag = ::dwarf_tag(&scope);
      if (tag == DW_TAG_inlined_subroutine && locations.size() < max_inlined && bytes < max_inlined_bytes) {
        location.function = function_name(&scope, known);
        location.inlined = true;
        bytes += location.function.size() + location.file.size();
        locations.push_back(std::move(location));
        location = {};
        set_call_site(unit, &scope, location);
      } else if (tag == DW_TAG_subprogram) {
        location.function = function_name(&scope, known);
        Dwarf_Addr entry = 0;
        if (::dwarf_lowpc(&scope, &entry) == 0 && entry <= address - bias) {
          location.offset = address - bias - entry + adjustment;
        }
        break;
      }
    }
  }
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* const name = ::dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name != nullptr && *name != '\0') {
    const std::string plain = debuginfo::bounded(name);
    location.function = demangle(plain.substr(0, plain.find('@')));  // @@GLIBC_2.34
    location.offset = offset + adjustment;
  }
  locations.push_back(std::move(location));
  return locations;
}

struct SourcesState final : debuginfo::OpenedFile::State {
  explicit SourcesState(debuginfo::ObjectFiles& files) : file(files) {}

  debuginfo::DebugFile file;
  QualifiedNames names;
};

/// The question: address and adjustment. The answer: their number and the locations.
void find_locations(debuginfo::OpenedFile& file, debuginfo::Input& question, debuginfo::Output& answer) {
  if (!file.state) {
    file.state = std::make_unique<SourcesState>(file.files);
  }
  const auto address = question.value<std::uint64_t>();
  const auto adjustment = question.value<unsigned>();
  auto& state = static_cast<SourcesState&>(*file.state);
  const auto found = locations_at(state.file, state.names, address, adjustment);
  answer.value(found.size());
  for (const SourceLocation& location : found) {
    answer.text(location.function);
    answer.value(location.offset);
    answer.text(location.file);
    answer.value(location.line);
    answer.value(location.inlined);
  }
}

}  // namespace

void Sources::trim_cache() {
  if (locations_.size() > max_locations || bytes_ > max_bytes) {
    locations_.clear();
    bytes_ = 0;
  }
}

const std::vector<SourceLocation>& Sources::at(std::uint64_t address, unsigned adjustment) {
  // The results for one instruction differ by adjustment, so that the key contains both.
  const std::uint64_t key = (address - adjustment) << 1 | adjustment;
  const auto [location, is_new] = locations_.try_emplace(key);
  if (is_new) {
    location->second = find(address - adjustment, adjustment);
  }
  return location->second;
}

std::vector<SourceLocation> Sources::find(std::uint64_t address, unsigned adjustment) {
  debuginfo::Output question;
  question.value(address);
  question.value(adjustment);
  std::vector<SourceLocation> locations;
  auto answer = reader_.ask(file_, find_locations, question);
  for (auto left = answer ? answer->value<std::size_t>() : 0; left != 0 && !answer->bad(); --left) {
    SourceLocation& location = locations.emplace_back();
    location.function = answer->text();
    location.offset = answer->value<std::uint64_t>();
    location.file = answer->text();
    location.line = answer->value<unsigned>();
    location.inlined = answer->value<bool>();
    bytes_ += sizeof location + location.function.size() + location.file.size();
  }
  return locations;
}

}  // namespace tracer::stack
