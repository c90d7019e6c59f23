// The page of --format=html: what comes before the data, and after it.
#pragma once

#include <string>

namespace tracer::pipeline::exports::report {

[[nodiscard]] std::string start();
[[nodiscard]] std::string end();

}  // namespace tracer::pipeline::exports::report
