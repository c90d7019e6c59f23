#include "sysc/compile.h"

#include "sysc/lowering.h"
#include "sysc/parser.h"
#include "sysc/replace.h"

namespace tracer::sysc {

spec::TableSet compile(std::span<const Source> sources, Diagnostics& diagnostics, CompileOptions options) {
  auto program = parse(sources, diagnostics);
  program.first_replaceable = options.first_replaceable;
  replace(program);
  Lowering lowering(program, diagnostics);
  auto set = lowering.run(options);
  if (options.unused) {
    lowering.symbols().warn_unused(diagnostics);
  }
  if (options.first_replaceable) {
    diagnostics.drop_warnings_from(*options.first_replaceable);
  }
  return set;
}

}  // namespace tracer::sysc
