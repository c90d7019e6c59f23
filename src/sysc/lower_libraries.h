// Lowers functions of libraries, whose arguments come in the order of C and not in a system call's registers.
#pragma once

#include <string>
#include <unordered_map>

#include "sysc/lower_calls.h"

namespace tracer::sysc {

class LibraryLowering {
 public:
  LibraryLowering(LoweringContext& context, SignatureLowering& signatures, const CallLowering& calls)
      : context_(context), signatures_(signatures), calls_(calls) {}

  void lower();

 private:
  void lower_library(const ast::Library& library);
  void lower_function(const ast::Library& library, const ast::Name& name, const ast::Call& ast, bool sets_errno);
  void number_in_order(spec::Index signature);

  LoweringContext& context_;
  SignatureLowering& signatures_;
  const CallLowering& calls_;
  std::unordered_map<std::string, Position> functions_;  ///< by library, NUL, name
};

}  // namespace tracer::sysc
