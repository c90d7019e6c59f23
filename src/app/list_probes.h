// --list-probes: what -e usdt=, library= and symbol= can name.
#pragma once

#include <string>

#include "base/result.h"

namespace tracer::app {

/// Returns one line for each probe and function: `usdt=…`, `library=…`, `symbol=…`. `program` is a name, a path or a
/// process id.
Result<std::string> list_of_probes(const std::string& program);

}  // namespace tracer::app
