// --list-probes: what -e usdt=, library= and symbol= can name.
#pragma once

#include <string>

#include "base/result.h"

namespace tracer::app {

/// `program`: its name or path, or the id of a process. A line each: `usdt=…`, `library=…`, `symbol=…`.
Result<std::string> list_of_probes(const std::string& program);

}  // namespace tracer::app
