// Descriptions to tables, in one step: what `sysc emit` and `--define` do.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "spec/table_set.h"
#include "sysc/diagnostics.h"

namespace tracer::sysc {

struct CompileOptions {
  bool lenient = false;  ///< a number without a description is a warning, and decodes as six words
  bool unused = false;   ///< warn of types that nothing uses
  bool numbers = false;  ///< warn of numbers of ioctls that are written out although they have a size
  /// Sources from here on give way to earlier ones that describe the same call, function or number.
  std::optional<std::size_t> first_replaceable = std::nullopt;
};

/// Whatever the errors, the tables are sound; only if there are none do they say what the sources say.
spec::TableSet compile(std::span<const Source> sources, Diagnostics& diagnostics, CompileOptions options = {});

}  // namespace tracer::sysc
