// Compiles descriptions to tables, for `sysc emit` and `--define`.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "spec/table_set.h"
#include "sysc/diagnostics.h"

namespace tracer::sysc {

struct CompileOptions {
  bool lenient = false;  ///< a number without a description causes a warning and decodes as six words
  bool unused = false;   ///< warn of types that nothing uses
  bool numbers = false;  ///< warn of ioctl numbers that are written out although they encode a size
  /// Earlier sources replace calls, functions and numbers of the sources from this index on, and no warning is about
  /// those sources.
  std::optional<std::size_t> first_replaceable = std::nullopt;
};

/// Returns tables that pass Tables::verify. They represent the sources only if no error was reported.
spec::TableSet compile(std::span<const Source> sources, Diagnostics& diagnostics, CompileOptions options = {});

}  // namespace tracer::sysc
