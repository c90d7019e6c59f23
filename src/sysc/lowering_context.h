// Holds what the steps of lowering share: the program, its names and the tables that they fill.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sysc/ast.h"
#include "sysc/diagnostics.h"
#include "sysc/symbols.h"
#include "sysc/table_builder.h"

namespace tracer::sysc {

/// The names that an expression may use.
struct Scope {
  enum class Kind : std::uint8_t { none, call, structure, table };
  struct Entry {
    std::string_view name;
    spec::Index id = spec::none;      ///< of a Param or a Field
    const ast::Type* type = nullptr;  ///< as written
  };
  Kind kind = Kind::none;
  std::vector<Entry> entries;                      ///< parameters of the call, or fields of the struct
  const std::vector<ast::Name>* params = nullptr;  ///< formal parameters of the struct or table
};

struct LoweringContext {
  LoweringContext(const ast::Program& its_program, Diagnostics& its_diagnostics)
      : program(its_program), diagnostics(its_diagnostics), symbols(its_program, its_diagnostics) {}
  LoweringContext(const LoweringContext&) = delete;
  LoweringContext& operator=(const LoweringContext&) = delete;

  const ast::Program& program;
  Diagnostics& diagnostics;
  Symbols symbols;
  TableBuilder builder;
  spec::TableSet& set = builder.set;
  spec::SetId ioctl_set = spec::none;  ///< the set of all ioctl numbers, which the type ioctl_cmd has
};

}  // namespace tracer::sysc
