// The functions whose calls are traced, each once for each module that calls it.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "functions/breakpoints.h"
#include "functions/library/modules.h"
#include "functions/library/symbol_filter.h"
#include "trace/library_call.h"

namespace tracer::functions {

class FunctionTable {
 public:
  /// `demangler`: for labels; may be empty.
  explicit FunctionTable(library::Demangler demangler) : demangler_(std::move(demangler)) {}

  /// The function `name` as the module `caller` calls it.
  trace::LibraryFunction& find_or_add(std::string_view caller, bool of_program, std::string_view name);
  /// The function `name` of the module `definer`, whoever calls it.
  trace::LibraryFunction& find_or_add_entry(std::string_view definer, std::string_view name);
  /// The function that a thread calls which comes to `point`; null if it is neither asked for nor
  /// Breakpoint::unreported.
  [[nodiscard]] trace::LibraryFunction* called_at(const Breakpoints& space, Breakpoint& point,
                                                  std::uint64_t return_address);
  /// The function that is called at `point`, the first instruction, by its callers; null if nobody has called it yet.
  [[nodiscard]] trace::LibraryFunction* find_called_from(const Breakpoints& space, const Breakpoint& point);
  /// Finds the module that defines the function, once, and gives the function its label.
  void locate(const Breakpoints& space, trace::LibraryFunction& function) const;

 private:
  library::Demangler demangler_;
  std::deque<trace::LibraryFunction> functions_;
  std::map<std::pair<std::string, std::string>, trace::LibraryFunction*> by_name_;  ///< caller and name
};

/// `module` defines the function, by this symbol.
void define(trace::LibraryFunction& function, const library::Module& module, const library::Symbol& symbol);

}  // namespace tracer::functions
