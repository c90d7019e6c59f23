#include "debuginfo/prototypes.h"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "debuginfo/attributes.h"
#include "debuginfo/scopes.h"
#include "debuginfo/standard_types.h"
#include "spec/value_class.h"

namespace tracer::debuginfo {

namespace {

constexpr unsigned max_dies = 20'000;             // for a function and its types
constexpr std::size_t max_units = 100'000;        // in the search for declarations
constexpr std::size_t max_top_level = 2'000'000;  // DIEs in the search for declarations
constexpr std::size_t max_unit_dies = 2'000'000;

bool is_artificial(Dwarf_Die* die) {
  Dwarf_Attribute value;
  return ::dwarf_attr_integrate(die, DW_AT_artificial, &value) != nullptr;
}

/// Returns the parameters of a function and sets `is_variadic`.
std::vector<Dwarf_Die> parameters_of(Dwarf_Die function, bool& is_variadic) {
  std::vector<Dwarf_Die> parameters;
  Dwarf_Die child;
  std::size_t seen = 0;
  for (int more = ::dwarf_child(&function, &child); more == 0 && ++seen < max_dies;) {
    const int tag = ::dwarf_tag(&child);
    is_variadic = is_variadic || tag == DW_TAG_unspecified_parameters;
    if (tag == DW_TAG_formal_parameter) {
      parameters.push_back(child);
    }
    Dwarf_Die next;
    more = parameters.size() > spec::most_parameters ? 1 : ::dwarf_siblingof(&child, &next);
    child = next;
  }
  return parameters;
}

/// Whether nothing is said of the parameters: `int f();` in C, `int f(...)` in C++, and functions that C code uses
/// undeclared.
bool takes_anything(Dwarf_Die function) {
  Dwarf_Die first;
  return ::dwarf_child(&function, &first) == 0 && ::dwarf_tag(&first) == DW_TAG_unspecified_parameters;
}

/// Whether a DIE with this tag may contain functions.
bool is_scope(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
         is_aggregate(tag);
}

/// Returns the kind of format string that the last named parameter of a variadic function is, going by the names.
/// Parameters of declarations may have no name.
spec::Varargs format_of(std::string_view function, std::string_view parameter) {
  if (parameter != "format" && parameter != "fmt" && !parameter.empty()) {
    return spec::Varargs::none;
  }
  return function.find("scanf") != std::string_view::npos ? spec::Varargs::scanf : spec::Varargs::printf;
}

/// Whether the compiler may have changed the parameters, as in `name.isra.0`. In `name.0` it has not: that is one of
/// several nested functions of the same name.
bool has_changed_parameters(std::string_view name) {
  const std::size_t dot = name.find('.');
  return dot != std::string_view::npos && name.find_first_not_of("0123456789", dot + 1) != std::string_view::npos;
}

int language_of(Dwarf_Die function) {
  Dwarf_Die unit;
  return ::dwarf_diecu(&function, &unit, nullptr, nullptr) == nullptr ? 0 : ::dwarf_srclang(&unit);
}

/// Rust has its own convention for passing structures.
bool is_c_like(int language) {
  return language != DW_LANG_Rust;
}

/// Whether the language passes parameters by reference although their DW_AT_type is not a reference.
bool passes_by_reference(int language) {
  constexpr std::array<int, 7> languages = {DW_LANG_Fortran77, DW_LANG_Fortran90, DW_LANG_Fortran95, DW_LANG_Fortran03,
                                            DW_LANG_Fortran08, DW_LANG_Ada83,     DW_LANG_Ada95};
  return std::find(languages.begin(), languages.end(), language) != languages.end();
}

/// Whether the location of the parameter at the function's entry is an address in a register or on the stack.
bool is_by_reference(Dwarf_Die& parameter) {
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

/// Returns the index of the parameter that holds the length of a Fortran string.
std::optional<std::size_t> length_parameter(Dwarf_Die type, const std::vector<Dwarf_Die>& parameters) {
  const auto size = ::dwarf_tag(&type) == DW_TAG_string_type ? referenced_die(type, DW_AT_string_length) : std::nullopt;
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const Dwarf_Die& parameter) { return size && parameter.addr == size->addr; });
  return found == parameters.end() ? std::nullopt : std::optional<std::size_t>(found - parameters.begin());
}

bool is_string(const spec::Tables& tables, spec::TypeId type) {
  const spec::Type& pointer = tables.types[type];
  return pointer.kind == spec::TypeKind::pointer && pointer.direction == spec::Direction::in &&
         tables.types[pointer.target].kind == spec::TypeKind::cstr;
}

bool is_structure(const spec::Tables& tables, spec::TypeId type) {
  return type != spec::none && tables.types[type].kind == spec::TypeKind::structure;
}

/// Whether a value of the type is passed in integer registers only, and in no more of them than it has words. Of what
/// a structure shows only scalars are passed.
bool is_of_words(const spec::Tables& tables, spec::TypeId id, unsigned depth = 0) {
  constexpr unsigned max_depth = 10;
  const spec::Type& type = tables.types[id];
  if (is_structure(tables, id) && depth < max_depth) {
    const auto fields = spec::Tables::slice(tables.fields, tables.structs[type.index].fields);
    return std::all_of(fields.begin(), fields.end(),
                       [&](const spec::Field& field) { return is_of_words(tables, field.type, depth + 1); });
  }
  switch (type.kind) {
    case spec::TypeKind::scalar:
      return type.style != spec::Style::floating && type.width <= spec::register_wide;
    case spec::TypeKind::choice:
    case spec::TypeKind::custom:
      return false;
    default:
      return type.kind == spec::TypeKind::pointer || depth != 0;
  }
}

/// Whether a structure may be passed in part in a register and in part on the stack. Rust does that where C passes all
/// of it on the stack, and gives the register to a later argument.
bool splits_structure(const spec::Tables& tables, spec::TypeId result, const std::vector<spec::Param>& params) {
  constexpr std::array<std::pair<Abi, std::size_t>, 2> registers = {{{Abi::x86_64, 6}, {Abi::aarch64, 8}}};
  const auto words_of = [&](spec::TypeId type, Abi abi) {
    return is_structure(tables, type)
               ? spec::PassedValue::words_of(tables.structs[tables.types[type].index].layout.size[index_of(abi)])
               : 1;
  };
  for (const auto& [abi, available] : registers) {
    const bool has_hidden_address = result != spec::none && abi == Abi::x86_64 && words_of(result, abi) > 2;
    std::size_t used = has_hidden_address ? 1 : 0;
    bool only_words = true;  // what else there is may be passed in other registers
    for (const spec::Param& param : params) {
      const std::size_t words = words_of(param.type, abi);
      only_words = only_words && is_of_words(tables, param.type);
      if (is_structure(tables, param.type) && used + words > available && (used < available || !only_words)) {
        return true;
      }
      used += words;
    }
  }
  return false;
}

}  // namespace

Prototypes::Prototypes(ObjectFiles& files, spec::GrowingTables& into, Targets targets)
    : into_(into), file_(files), types_(into, file_.word_size(), targets) {}

const spec::Call* Prototypes::find_definition(std::uint64_t address, std::string_view name) {
  if (file_.module() == nullptr || has_changed_parameters(name)) {
    return nullptr;
  }
  Dwarf_Addr bias = 0;
  Dwarf_Die* const unit = file_.unit_of(address, bias);
  if (unit == nullptr) {
    return nullptr;
  }
  const auto [known, is_new] = functions_.try_emplace(::dwarf_dieoffset(unit));
  if (is_new) {
    std::size_t dies = 0;
    find_functions(*unit, 0, dies, known->second);
  }
  const auto found = known->second.find(address - bias);
  return found != known->second.end() ? describe(found->second, name) : nullptr;
}

/// dwarf_getfuncs() does not enter namespaces and modules and does not find nested functions.
void Prototypes::find_functions(Dwarf_Die scope, unsigned depth, std::size_t& dies, FunctionsByEntry& into) {
  constexpr unsigned max_depth = 32;
  Dwarf_Die child;
  for (int more = depth < max_depth ? ::dwarf_child(&scope, &child) : 1; more == 0 && ++dies < max_unit_dies;) {
    Dwarf_Addr entry = 0;
    if (::dwarf_tag(&child) == DW_TAG_subprogram && ::dwarf_entrypc(&child, &entry) == 0) {
      into.try_emplace(entry, child);
    }
    if (is_scope(::dwarf_tag(&child))) {
      find_functions(child, depth + 1, dies, into);
    }
    Dwarf_Die next;
    more = ::dwarf_siblingof(&child, &next);
    child = next;
  }
}

const spec::Call* Prototypes::find_declaration(std::string_view name) {
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
  std::size_t dies = 0;
  for (std::size_t i = 0; file_.module() != nullptr && i < max_units && dies < max_top_level; ++i) {
    unit = ::dwfl_module_nextcu(file_.module(), unit, &bias);
    Dwarf_Die child;
    for (int more = unit == nullptr ? 1 : ::dwarf_child(unit, &child); more == 0 && ++dies < max_top_level;) {
      if (::dwarf_tag(&child) == DW_TAG_subprogram && ::dwarf_hasattr(&child, DW_AT_declaration) != 0 &&
          !takes_anything(child)) {
        declarations_.try_emplace(linkage_name(child), child);
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

std::optional<TypeReader::Parameter> Prototypes::describe_parameter(Dwarf_Die parameter,
                                                                    const std::vector<Dwarf_Die>& all, int language) {
  const auto type = type_of(parameter);
  if (!type) {
    return std::nullopt;
  }
  if (passes_by_reference(language) && is_by_reference(parameter)) {
    const auto length = length_parameter(*type, all);
    return length ? types_.string_of_length(*length) : types_.by_address(*type);
  }
  const auto described = is_c_like(language) ? types_.parameter(*type) : StandardTypes(types_).rust_parameter(*type);
  const bool is_this =
      is_artificial(&parameter) && (!described || into_.tables().types[described->type].kind != spec::TypeKind::scalar);
  return is_this ? TypeReader::Parameter{types_.address()} : described;
}

/// Whether the function's unit describes any type. With -g1 it does not, and no function has parameters.
bool Prototypes::has_types(Dwarf_Die function) {
  Dwarf_Die unit;
  if (::dwarf_diecu(&function, &unit, nullptr, nullptr) == nullptr) {
    return false;
  }
  const auto [known, is_new] = have_types_.try_emplace(::dwarf_dieoffset(&unit), false);
  Dwarf_Die child;
  std::size_t dies = 0;
  for (int more = is_new ? ::dwarf_child(&unit, &child) : 1; more == 0 && ++dies < max_dies;) {
    const int tag = ::dwarf_tag(&child);
    known->second = tag == DW_TAG_base_type || is_pointer(tag) || is_aggregate(tag) || tag == DW_TAG_typedef;
    Dwarf_Die next;
    more = known->second ? 1 : ::dwarf_siblingof(&child, &next);
    child = next;
  }
  return known->second;
}

const spec::Call* Prototypes::describe(Dwarf_Die function, std::string_view name) {
  types_.set_budget(max_dies);
  bool is_variadic = false;
  std::vector<Dwarf_Die> parameters = parameters_of(function, is_variadic);
  if (Dwarf_Die declaration = declaration_of(function); parameters.empty() && declaration.addr != function.addr) {
    parameters = parameters_of(declaration, is_variadic);
  }
  if (parameters.empty() && (is_variadic || (!type_of(function) && !has_types(function)))) {
    return nullptr;
  }
  spec::Signature signature;
  if (auto type = type_of(function)) {
    const auto result = types_.result(*type);
    if (!result) {
      return nullptr;
    }
    signature.result = *result;
    StandardTypes own(types_);
    const bool is_aggregate_value = is_structure(into_.tables(), *result) || own.is_array(*type);
    if (!is_c_like(language_of(function)) && is_aggregate_value && !own.is_returned_as_in_c(*type)) {
      return nullptr;
    }
  }
  std::vector<spec::Param> params;
  std::array<std::size_t, abi_count> slots{};
  const int language = language_of(function);
  for (Dwarf_Die& parameter : parameters) {
    const auto described = describe_parameter(parameter, parameters, language);
    if (!described) {
      return nullptr;
    }
    spec::Param param;
    param.name = into_.text(name_of(parameter));
    param.type = described->type;
    param.at_exit = described->at_exit;
    param.saved = described->saved;
    const spec::Type& own = into_.tables().types[described->type];
    for (std::size_t abi = 0; abi < abi_count; ++abi) {
      param.slot[abi] = static_cast<std::uint8_t>(slots[abi]);
      slots[abi] += is_structure(into_.tables(), described->type)
                        ? spec::PassedValue::words_of(into_.tables().structs[own.index].layout.size[abi])
                        : 1;
      if (slots[abi] > spec::most_parameters) {
        return nullptr;
      }
    }
    params.push_back(param);
  }
  if (!is_c_like(language) && splits_structure(into_.tables(), signature.result, params)) {
    return nullptr;
  }
  spec::Call call;
  call.name = into_.text(name);
  if (is_variadic && !params.empty() && is_string(into_.tables(), params.back().type)) {
    call.varargs = format_of(name, name_of(parameters.back()));
  }
  return into_.add(call, signature, params);
}

}  // namespace tracer::debuginfo
