#include "debuginfo/prototypes.h"

#include <dwarf.h>

#include <algorithm>
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
constexpr std::size_t most_pieces_of_a_unit = 2'000'000;

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

/// Whether functions may stand in it.
bool is_scope(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
         is_aggregate(tag);
}

/// By its names, what a function of varying parameters makes of its last fixed one, a text. Declarations have no names.
spec::Varargs format_of(std::string_view function, std::string_view parameter) {
  if (parameter != "format" && parameter != "fmt" && !parameter.empty()) {
    return spec::Varargs::none;
  }
  return function.find("scanf") != std::string_view::npos ? spec::Varargs::scanf : spec::Varargs::printf;
}

/// `name.isra.0`: a compiler has changed what it takes. `name.0` is only one of several functions of that name, which
/// stand in other functions.
bool may_take_otherwise(std::string_view name) {
  const std::size_t dot = name.find('.');
  return dot != std::string_view::npos && name.find_first_not_of("0123456789", dot + 1) != std::string_view::npos;
}

int language_of(Dwarf_Die function) {
  Dwarf_Die unit;
  return ::dwarf_diecu(&function, &unit, nullptr, nullptr) == nullptr ? 0 : ::dwarf_srclang(&unit);
}

/// Rust passes structures in ways of its own.
bool is_c_like(int language) {
  return language != DW_LANG_Rust;
}

/// Whether what a parameter is given may be the address of what its type says.
bool may_take_addresses(int language) {
  constexpr std::array<int, 7> taking = {DW_LANG_Fortran77, DW_LANG_Fortran90, DW_LANG_Fortran95, DW_LANG_Fortran03,
                                         DW_LANG_Fortran08, DW_LANG_Ada83,     DW_LANG_Ada95};
  return std::find(taking.begin(), taking.end(), language) != taking.end();
}

/// Where the function begins, the parameter is at an address that a register or a place on the stack holds.
bool stands_elsewhere(Dwarf_Die& parameter) {
  Dwarf_Attribute attribute;
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  Dwarf_Op* steps = nullptr;
  std::size_t count = 0;
  if (::dwarf_attr_integrate(&parameter, DW_AT_location, &attribute) == nullptr ||
      ::dwarf_getlocations(&attribute, 0, &base, &begin, &end, &steps, &count) <= 0 || count == 0) {
    return false;
  }
  const Dwarf_Op& last = steps[count - 1];
  return last.atom == DW_OP_deref ||
         (count == 1 && last.atom >= DW_OP_breg0 && last.atom <= DW_OP_breg31 && last.number == 0);
}

/// Of Fortran's texts, the parameter that says how long they are.
std::optional<std::size_t> size_of_text(Dwarf_Die type, const std::vector<Dwarf_Die>& parameters) {
  const auto size = ::dwarf_tag(&type) == DW_TAG_string_type ? referred(type, DW_AT_string_length) : std::nullopt;
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const Dwarf_Die& parameter) { return size && parameter.addr == size->addr; });
  return found == parameters.end() ? std::nullopt : std::optional<std::size_t>(found - parameters.begin());
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
  if (file_.module() == nullptr || may_take_otherwise(name)) {
    return nullptr;
  }
  Dwarf_Addr bias = 0;
  Dwarf_Die* const unit = file_.unit_of(address, bias);
  if (unit == nullptr) {
    return nullptr;
  }
  const auto [known, is_new] = functions_.try_emplace(::dwarf_dieoffset(unit));
  if (is_new) {
    std::size_t pieces = 0;
    find_functions(*unit, 0, pieces, known->second);
  }
  const auto found = known->second.find(address - bias);
  return found != known->second.end() ? describe(found->second, name) : nullptr;
}

/// libdw itself does not look into namespaces and modules, nor for functions in functions.
void Prototypes::find_functions(Dwarf_Die scope, unsigned depth, std::size_t& pieces, FunctionsByEntry& into) {
  constexpr unsigned deepest = 32;
  Dwarf_Die child;
  for (int more = depth < deepest ? ::dwarf_child(&scope, &child) : 1; more == 0 && ++pieces < most_pieces_of_a_unit;) {
    Dwarf_Addr entry = 0;
    if (::dwarf_tag(&child) == DW_TAG_subprogram && ::dwarf_entrypc(&child, &entry) == 0) {
      into.try_emplace(entry, child);
    }
    if (is_scope(::dwarf_tag(&child))) {
      find_functions(child, depth + 1, pieces, into);
    }
    Dwarf_Die next;
    more = ::dwarf_siblingof(&child, &next);
    child = next;
  }
}

const spec::Call* Prototypes::declared(std::string_view name) {
  if (!declarations_known_) {
    declarations_known_ = true;
    find_declarations();
  }
  const auto found = declarations_.find(std::string(name));
  return found != declarations_.end() ? describe(found->second, name) : nullptr;
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
        declarations_.try_emplace(linkage_name(&child), child);
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

std::optional<TypeReader::Taken> Prototypes::take(Dwarf_Die parameter, const std::vector<Dwarf_Die>& all,
                                                  bool may_be_address) {
  const auto type = type_of(parameter);
  if (!type) {
    return std::nullopt;
  }
  if (may_be_address && stands_elsewhere(parameter)) {
    const auto size = size_of_text(*type, all);
    return size ? types_.text_of_size(*size) : types_.by_address(*type);
  }
  const auto taken = types_.parameter(*type);
  const bool is_own =
      is_artificial(&parameter) && (!taken || into_.tables().types[taken->type].kind != spec::TypeKind::scalar);
  return is_own ? TypeReader::Taken{types_.address()} : taken;
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
  const int language = language_of(function);
  const bool c_like = is_c_like(language);
  for (Dwarf_Die& parameter : parameters) {
    const auto taken = take(parameter, parameters, may_take_addresses(language));
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
