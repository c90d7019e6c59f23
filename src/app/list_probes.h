// --list-probes: what -e usdt=, library= and symbol= can name.
#pragma once

#include <string>

#include "base/result.h"
#include "debuginfo/reader.h"

namespace tracer::app {

/// Returns one line for each probe and function: `usdt=…`, `library=…`, `symbol=…`. `program` is a name, a path or a
/// process id. `note` receives sentences about files that are too hard to read.
Result<std::string> list_of_probes(const std::string& program, const debuginfo::Reader::Note& note);

}  // namespace tracer::app
