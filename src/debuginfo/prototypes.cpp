#include "debuginfo/prototypes.h"

#include <dwarf.h>

#include <array>
#include <optional>
#include <vector>

#include "debuginfo/attributes.h"
#include "debuginfo/scopes.h"
#include "spec/value_class.h"

namespace tracer::debuginfo {

namespace {

constexpr unsigned most_pieces = 20'000;           // of a function and its types
constexpr std::size_t most_units = 100'000;        // to look for declarations in
constexpr std::size_t most_top_level = 2'000'000;  // pieces, likewise

unsigned word_size_of(Elf* elf) {
  return elf != nullptr && ::gelf_getclass(elf) == ELFCLASS32 ? 4 : 8;
}

std::string linkage_name(Dwarf_Die* function) {
  for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute value;
    if (::dwarf_attr_integrate(function, attribute, &value) != nullptr) {
      return bounded(::dwarf_formstring(&value));
    }
  }
  return bounded(::dwarf_diename(function));
}

bool is_artificial(Dwarf_Die* die) {
  Dwarf_Attribute value;
  return ::dwarf_attr_integrate(die, DW_AT_artificial, &value) != nullptr;
}

/// The parameters of a function; `varies`: there may be more.
std::vector<Dwarf_Die> parameters_of(Dwarf_Die function, bool& varies) {
  std::vector<Dwarf_Die> parameters;
  Dwarf_Die child;
  std::size_t seen = 0;
  for (int more = ::dwarf_child(&function, &child); more == 0 && ++seen < most_pieces;) {
    const int tag = ::dwarf_tag(&child);
    varies = varies || tag == DW_TAG_unspecified_parameters;
    if (tag == DW_TAG_formal_parameter) {
      parameters.push_back(child);
    }
    Dwarf_Die next;
    more = parameters.size() > spec::most_parameters ? 1 : ::dwarf_siblingof(&child, &next);
    child = next;
  }
  return parameters;
}

bool begins_at(Dwarf_Die& die, Dwarf_Addr address) {
  Dwarf_Addr entry = 0;
  return ::dwarf_tag(&die) == DW_TAG_subprogram && ::dwarf_entrypc(&die, &entry) == 0 && entry == address;
}

/// Among the functions of namespaces, into which libdw does not look.
std::optional<Dwarf_Die> find_in_namespaces(Dwarf_Die scope, Dwarf_Addr address, unsigned depth, std::size_t& pieces) {
  constexpr unsigned deepest = 32;
  Dwarf_Die child;
  for (int more = ::dwarf_child(&scope, &child); more == 0 && ++pieces < most_top_level && depth < deepest;) {
    if (begins_at(child, address)) {
      return child;
    }
    if (::dwarf_tag(&child) == DW_TAG_namespace) {
      if (const auto found = find_in_namespaces(child, address, depth + 1, pieces)) {
        return found;
      }
    }
    Dwarf_Die next;
    more = ::dwarf_siblingof(&child, &next);
    child = next;
  }
  return std::nullopt;
}

/// By its names, what a function of varying parameters makes of its last fixed one, a text. Declarations have no names.
spec::Varargs format_of(std::string_view function, std::string_view parameter) {
  if (parameter != "format" && parameter != "fmt" && !parameter.empty()) {
    return spec::Varargs::none;
  }
  return function.find("scanf") != std::string_view::npos ? spec::Varargs::scanf : spec::Varargs::printf;
}

/// Rust passes structures in ways of its own.
bool is_c_like(Dwarf_Die* function) {
  constexpr int rust = 0x1c;  // DW_LANG_Rust
  Dwarf_Die unit;
  return ::dwarf_diecu(function, &unit, nullptr, nullptr) == nullptr || ::dwarf_srclang(&unit) != rust;
}

bool is_text(const spec::Tables& tables, spec::TypeId type) {
  const spec::Type& pointer = tables.types[type];
  return pointer.kind == spec::TypeKind::pointer && pointer.direction == spec::Direction::in &&
         tables.types[pointer.target].kind == spec::TypeKind::cstr;
}

bool is_structure(const spec::Tables& tables, spec::TypeId type) {
  return type != spec::none && tables.types[type].kind == spec::TypeKind::structure;
}

}  // namespace

std::unique_ptr<Prototypes> Prototypes::open(UniqueFd file, const std::string& name, spec::GrowingTables& into) {
  ElfHandle elf = open_elf(file.get());
  return elf ? std::unique_ptr<Prototypes>(new Prototypes(std::move(file), std::move(elf), name, into)) : nullptr;
}

Prototypes::Prototypes(UniqueFd file, ElfHandle elf, const std::string& name, spec::GrowingTables& into)
    : descriptor_(std::move(file)), into_(into), types_(into, word_size_of(elf.get())), file_(std::move(elf), name) {}

const spec::Call* Prototypes::at(std::uint64_t address, std::string_view name) {
  if (file_.module() == nullptr || name.find('.') != std::string_view::npos) {
    return nullptr;  // `name.isra.0`: a compiler has changed what it takes
  }
  Dwarf_Addr bias = 0;
  Dwarf_Die* const unit = file_.unit_of(address, bias);
  if (unit == nullptr) {
    return nullptr;
  }
  Scopes owner;
  for (Dwarf_Die& scope : scopes_at(unit, address - bias, owner)) {
    if (begins_at(scope, address - bias)) {
      return describe(scope, name);
    }
  }
  std::size_t pieces = 0;
  const auto found = find_in_namespaces(*unit, address - bias, 0, pieces);
  return found ? describe(*found, name) : nullptr;
}

const spec::Call* Prototypes::declared(std::string_view name) {
  if (!declarations_known_) {
    declarations_known_ = true;
    find_declarations();
  }
  const auto found = declarations_.find(std::string(name));
  Dwarf_Addr bias = 0;
  Dwarf_Die die;
  return found != declarations_.end() &&
                 ::dwarf_offdie(::dwfl_module_getdwarf(file_.module(), &bias), found->second, &die) != nullptr
             ? describe(die, name)
             : nullptr;
}

void Prototypes::find_declarations() {
  Dwarf_Addr bias = 0;
  Dwarf_Die* unit = nullptr;
  std::size_t pieces = 0;
  for (std::size_t i = 0; file_.module() != nullptr && i < most_units && pieces < most_top_level; ++i) {
    unit = ::dwfl_module_nextcu(file_.module(), unit, &bias);
    Dwarf_Die child;
    for (int more = unit == nullptr ? 1 : ::dwarf_child(unit, &child); more == 0 && ++pieces < most_top_level;) {
      if (::dwarf_tag(&child) == DW_TAG_subprogram && ::dwarf_hasattr(&child, DW_AT_declaration) != 0) {
        declarations_.try_emplace(linkage_name(&child), ::dwarf_dieoffset(&child));
      }
      Dwarf_Die next;
      more = ::dwarf_siblingof(&child, &next);
      child = next;
    }
    if (unit == nullptr) {
      return;
    }
  }
}

const spec::Call* Prototypes::describe(Dwarf_Die function, std::string_view name) {
  types_.allow(most_pieces);
  bool varies = false;
  std::vector<Dwarf_Die> parameters = parameters_of(function, varies);
  if (Dwarf_Die declaration = declaration_of(function); parameters.empty() && declaration.addr != function.addr) {
    parameters = parameters_of(declaration, varies);
  }
  spec::Signature signature;
  bool places_result = false;
  if (auto type = type_of(function)) {
    const auto result = types_.result(*type);
    if (!result) {
      return nullptr;
    }
    signature.result = *result;
    places_result = types_.is_placed_by_caller(*type);
  }
  std::vector<spec::Param> params;
  // On aarch64 a register of its own says where a result goes.
  std::array<std::size_t, abi_count> slots{};
  slots.fill(places_result ? 1 : 0);
  slots[index_of(Abi::aarch64)] = 0;
  const bool c_like = is_c_like(&function);
  for (Dwarf_Die& parameter : parameters) {
    const auto type = type_of(parameter);
    const auto taken = !type                       ? std::nullopt
                       : is_artificial(&parameter) ? std::optional(TypeReader::Taken{types_.address()})
                                                   : types_.parameter(*type);
    if (!taken || (!c_like && (is_structure(into_.tables(), taken->type) || places_result))) {
      return nullptr;
    }
    spec::Param param;
    param.name = into_.text(name_of(parameter));
    param.type = taken->type;
    param.at_exit = taken->at_exit;
    param.saved = taken->saved;
    const spec::Type& own = into_.tables().types[taken->type];
    for (std::size_t abi = 0; abi < abi_count; ++abi) {
      param.slot[abi] = static_cast<std::uint8_t>(slots[abi]);
      slots[abi] += is_structure(into_.tables(), taken->type)
                        ? spec::PassedValue::words_of(into_.tables().structs[own.index].layout.size[abi])
                        : 1;
      if (slots[abi] > spec::most_parameters) {
        return nullptr;
      }
    }
    params.push_back(param);
  }
  if (!c_like && is_structure(into_.tables(), signature.result)) {
    return nullptr;
  }
  spec::Call call;
  call.name = into_.text(name);
  if (varies && !params.empty() && is_text(into_.tables(), params.back().type)) {
    call.varargs = format_of(name, name_of(parameters.back()));
  }
  return into_.add(call, signature, params);
}

}  // namespace tracer::debuginfo
