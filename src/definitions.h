// --define: the descriptions of the program with more of them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "spec/table_set.h"

namespace tracer {

/// Compiles the built-in descriptions together with `files` (*.sys, *.nr, or folders of them). What `files` say of a
/// number counts before what the built-in ones say. The error's message may have several lines.
Result<spec::TableSet> compile_definitions(const std::vector<std::string>& files);

}  // namespace tracer
