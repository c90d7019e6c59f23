// Turns the syntax tree into tables: resolves names, computes layouts and flattens signatures.
#pragma once

#include "sysc/compile.h"
#include "sysc/lower_calls.h"
#include "sysc/lower_exprs.h"
#include "sysc/lower_ioctls.h"
#include "sysc/lower_libraries.h"
#include "sysc/lower_sets.h"
#include "sysc/lower_signatures.h"
#include "sysc/lower_structs.h"
#include "sysc/lower_types.h"
#include "sysc/lowering_context.h"

namespace tracer::sysc {

class Lowering {
 public:
  Lowering(const ast::Program& program, Diagnostics& diagnostics) : context_(program, diagnostics) {}

  spec::TableSet run(const CompileOptions& options);
  [[nodiscard]] const Symbols& symbols() const { return context_.symbols; }

 private:
  LoweringContext context_;
  TypeLookup lookup_{context_.symbols};
  ExprLowering exprs_{context_, lookup_};
  TypeLowering types_{context_, exprs_};
  SetLowering sets_{context_};
  StructLowering structs_{context_, exprs_, types_};
  IoctlLowering ioctls_{context_, types_, structs_};
  SignatureLowering signatures_{context_, lookup_, exprs_, types_, ioctls_};
  CallLowering calls_{context_, exprs_, types_, signatures_};
  LibraryLowering libraries_{context_, signatures_, calls_};
};

}  // namespace tracer::sysc
