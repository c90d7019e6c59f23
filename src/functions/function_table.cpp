#include "functions/function_table.h"

#include <algorithm>

namespace tracer::functions {

using library::Module;

void define(trace::LibraryFunction& function, const Module& module, const library::Symbol& symbol) {
  function.library = module.name;
  function.in_program = module.is_program;
  function.defined_in = {module.path, module.inode, module.range};
  function.address = symbol.is_resolver ? 0 : symbol.address;
}

trace::LibraryFunction& FunctionTable::find_or_add(std::string_view caller, bool of_program, std::string_view name) {
  trace::LibraryFunction*& known = by_name_[{std::string(caller), std::string(name)}];
  if (known == nullptr) {
    trace::LibraryFunction function;
    function.name = name;
    function.caller = caller;
    function.of_program = of_program;
    function.number = static_cast<std::uint32_t>(functions_.size());
    functions_.push_back(std::move(function));
    known = &functions_.back();
  }
  return *known;
}

trace::LibraryFunction& FunctionTable::find_or_add_entry(std::string_view definer, std::string_view name) {
  trace::LibraryFunction& function = find_or_add('@' + std::string(definer), false, name);
  function.caller.clear();
  return function;
}

void FunctionTable::locate(const Breakpoints& space, trace::LibraryFunction& function) const {
  if (!function.label.empty()) {
    return;
  }
  for (const auto& [start, module] : space.modules) {
    const library::Symbol* symbol = function.library.empty() ? module.file->find_exported(function.name) : nullptr;
    if (symbol != nullptr) {
      define(function, module, *symbol);
    }
    if (!function.caller.empty() && module.name == function.caller) {
      function.called_from = {module.path, module.inode, module.range};
    }
  }
  const bool mangled = function.name.starts_with("_Z") || function.name.starts_with("_R");
  const std::string name =
      mangled && demangler_ ? library::without_parameters(demangler_(function.name)) : function.name;
  function.label = function.library.empty() ? name : name + '@' + function.library;
}

trace::LibraryFunction* FunctionTable::called_at(const Breakpoints& space, Breakpoint& point,
                                                 std::uint64_t return_address) {
  if (point.stub != nullptr) {
    return point.stub;
  }
  if (point.entry != nullptr || point.resolved != nullptr) {
    return point.entry != nullptr ? point.entry : point.resolved;
  }
  const Module* caller = space.module_at(return_address);
  if (caller == nullptr ||
      std::find(point.callers.begin(), point.callers.end(), caller->start) == point.callers.end()) {
    return point.unreported;
  }
  return &find_or_add(caller->name, caller->is_program, point.entry_symbol);
}

trace::LibraryFunction* FunctionTable::find_called_from(const Breakpoints& space, const Breakpoint& point) {
  const auto caller = point.callers.empty() ? space.modules.end() : space.modules.find(point.callers.front());
  return caller == space.modules.end()
             ? nullptr
             : &find_or_add(caller->second.name, caller->second.is_program, point.entry_symbol);
}

}  // namespace tracer::functions
