// --define: the descriptions of the program with more of them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "spec/table_set.h"

namespace tracer::app {

/// Compiles the built-in descriptions together with `files` (*.sys, *.nr, or folders of them). What `files` say of a
/// number counts before what the built-in ones say. The error's message may have several lines.
Result<spec::TableSet> compile_definitions(const std::vector<std::string>& files);

/// Tables of functions alone, from what ltrace takes prototypes from: the files and folders `given` (-F), the user's
/// and the system's. Empty if there are none. Lines that cannot be understood are left out and told to `complain`.
/// ENOENT for what is given and missing.
Result<std::optional<spec::TableSet>> compile_prototypes(const std::vector<std::string>& given,
                                                         const std::function<void(const std::string&)>& complain);

}  // namespace tracer::app
