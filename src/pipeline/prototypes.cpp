#include "pipeline/prototypes.h"

#include <algorithm>
#include <array>

#include "arch/passed_values.h"
#include "decode/function_values.h"
#include "spec/user_prototypes.h"

namespace tracer::pipeline {

namespace {

constexpr std::array<std::string_view, 2> c_library = {"libc.so.6", "libm.so.6"};

/// Returns whether this is a C library with another name: musl, or a part of glibc before 2.34.
bool is_other_c_library(std::string_view library) {
  constexpr std::array<std::string_view, 4> parts = {"libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1"};
  return library == "libc.so" || library.starts_with("ld-musl-") || library.starts_with("libc.musl-") ||
         std::find(parts.begin(), parts.end(), library) != parts.end();
}

/// Returns the public name of an internal alias of the C library: `__strdup`, `__isoc99_vsscanf`.
std::string_view public_name(std::string_view function) {
  for (const std::string_view prefix : {"__isoc99_", "__libc_", "__"}) {
    if (function.starts_with(prefix)) {
      return function.substr(prefix.size());
    }
  }
  return {};
}

}  // namespace

/// Looks in the file of the module's own name, then without the numbers at its end: libm.so.6, libm.so.
const spec::Call* Prototypes::find_for_module(std::string_view module, std::string_view name) const {
  const spec::Call* found = nullptr;
  while (found == nullptr && !module.empty()) {
    found = tables_.find(spec::for_module(module), name);
    const auto dot = module.rfind('.');
    const bool is_number = dot != std::string_view::npos && dot + 1 < module.size() &&
                           module.find_first_not_of("0123456789", dot + 1) == std::string_view::npos;
    module = is_number ? module.substr(0, dot) : std::string_view();
  }
  return found;
}

/// At a function's entry, the file for its module comes first. A call through a PLT may be of any library: what is for
/// all modules comes first, and a file for another module last.
const spec::Call* Prototypes::find_of_user(const trace::LibraryFunction& function) const {
  constexpr auto defining = &trace::LibraryFunction::library;
  const bool at_entry = function.caller.empty();
  const std::string& module = at_entry ? function.*defining : function.caller;
  const spec::Call* found = find_for_module(module, function.name);
  if (found == nullptr) {
    found = tables_.find(spec::for_all_modules, function.name);
  }
  if (found == nullptr && !at_entry) {
    found = find_for_module(function.*defining, function.name);
  }
  return found != nullptr || at_entry ? found : tables_.find(spec::for_some_module, function.name);
}

const spec::Call* Prototypes::find(const trace::LibraryFunction& function, pid_t tid) {
  if (const auto known = known_.find(function.number); known != known_.end()) {
    return known->second;
  }
  const spec::Call* const found = look_up(function, tid);
  if (found != nullptr) {  // else its library may become known
    known_.emplace(function.number, found);
  }
  return found;
}

/// Looks prototypes up by soname; the user's come first. A function of a statically linked program is taken for that of
/// the C library.
const spec::Call* Prototypes::look_up(const trace::LibraryFunction& function, pid_t tid) const {
  if (function.is_resolver) {
    return tables_.find("IFUNC", "resolver");
  }
  const spec::Call* found = find_of_user(function);
  if (found == nullptr) {
    found = tables_.find(function.library, function.name);
  }
  const bool is_other = is_other_c_library(function.library);
  if (found == nullptr && (is_other || function.library == c_library[0])) {
    found = tables_.find(c_library[0], public_name(function.name));
  }
  // This comes before the C library, as a program may have its own function of such a name.
  if (found == nullptr && source_ != nullptr) {
    found = source_->find(function, tid);
  }
  const bool maybe_c = function.library.empty() || function.in_program || is_other;
  for (std::size_t i = 0; found == nullptr && maybe_c && i < c_library.size(); ++i) {
    found = tables_.find(c_library[i], function.name);
  }
  return found;
}

std::span<const std::uint64_t> Prototypes::arguments(const spec::Call& function, const trace::LibraryEnter& enter,
                                                     Abi abi, const trace::Memory& memory) {
  values_.clear();
  arch::ArgumentReader reader(abi, enter, memory);
  reader.skip_hidden_pointer(decode::result_of(tables_, function, abi));
  for (const spec::PassedValue& value : decode::fixed_arguments(tables_, function, abi)) {
    reader.next(value, values_);
  }
  if (function.varargs != spec::Varargs::none) {
    for (const spec::ValueClass value : decode::variable_arguments(tables_, function, abi, values_, memory)) {
      reader.next({value}, values_);
    }
  }
  return values_;
}

decode::Outcome Prototypes::outcome(const decode::Entry& entry, std::uint64_t result_address,
                                    const trace::LibraryExit& exit, const trace::Memory& memory) {
  decode::Outcome outcome;
  const spec::Call* function = entry.function;
  if (function == nullptr) {
    outcome.value = static_cast<std::int64_t>(exit.integers[0]);
    return outcome;
  }
  const Abi abi = entry.abi;
  const spec::PassedValue returned = decode::result_of(tables_, *function, abi);
  if (returned.value_class == spec::ValueClass::structure) {
    outcome.value = static_cast<std::int64_t>(exit.integers[0]);
    if (arch::result_structure(abi, returned, exit, result_address, memory, values_)) {
      outcome.words = values_;
    }
    return outcome;
  }
  const std::uint64_t bits = arch::result_value(abi, returned.value_class, exit);
  outcome.value = static_cast<std::int64_t>(bits);
  const spec::TypeId type = tables_.signatures[function->signature].result;
  if (!function->sets_errno || type == spec::none || exit.context == nullptr) {
    return outcome;
  }
  const spec::Type& result = tables_.types[type];
  const bool is_address = result.kind != spec::TypeKind::scalar || result.style == spec::Style::address;
  const bool is_wide = result.kind == spec::TypeKind::scalar && spec::bytes_of(result.width, abi) == 8;
  const bool failed = is_address ? bits == 0
                      : is_wide  ? bits == ~std::uint64_t{0}
                                 : static_cast<std::int32_t>(bits) == -1;
  if (const auto number = failed ? exit.context->error_number() : std::nullopt; number && *number > 0) {
    outcome.is_error = true;
    outcome.value = -std::int64_t{*number};
  }
  return outcome;
}

}  // namespace tracer::pipeline
