// Finds where a value of a failed call comes from: a variable of the environment, an option, or a line of a file.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "explain/prober.h"
#include "explain/story.h"

namespace tracer::explain {

struct ValueSource {
  std::string name;        ///< "the environment variable http_proxy", "the option --config"; empty: unknown
  std::string short_name;  ///< "http_proxy", "--config"
};

/// Finds the source of an address. `host` and `port` are as connect(2) or bind(2) got them.
ValueSource source_of_address(const Prober& prober, const std::string& host, unsigned port);

/// Finds the source of `path`, a path that the process gave to a call; `missing` is the part of it that is at fault. A
/// source that names only another part of it is none.
ValueSource source_of_path(const Prober& prober, const std::string& path, const std::string& missing);

/// Returns the value of a variable of the environment that the process was given; empty if it has none.
/// Returns the name of the first variable of the environment whose value matches; empty if there is none.
std::string source_of_value(const Process& process, const std::function<bool(std::string_view value)>& matches);
std::string environment_value(const Process& process, std::string_view name);

}  // namespace tracer::explain
