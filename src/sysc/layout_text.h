// Layouts of structures for people to read: `sysc layout`.
#pragma once

#include <string>
#include <string_view>

#include "base/abi.h"
#include "spec/spec.h"

namespace tracer::sysc {

/// The offsets and sizes of the fields of the structure `name`; one block for all of `abis` that lay it out alike.
/// Empty if there is no structure of that name.
std::string layout_text(const spec::Tables& tables, std::string_view name, AbiMask abis = all_abis);

}  // namespace tracer::sysc
