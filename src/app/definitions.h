// --define and the prototype files of ltrace: compiles descriptions at run time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "spec/table_set.h"
#include "sysc/source.h"

namespace tracer::app {

/// Reads what --define gives: files (*.sys, *.nr, or directories of them), and as `btf:MODULE` where the structures
/// come from that they take from the kernel's types. Those become one more source.
Result<std::vector<sysc::Source>> read_definitions(const std::vector<std::string>& given);

/// Compiles the built-in descriptions together with `sources`. The row of a number in `sources` replaces the built-in
/// one. The message of an error may have several lines.
Result<spec::TableSet> compile_definitions(std::vector<sysc::Source> sources);

/// Compiles the prototypes of ltrace into tables of functions: those of the files and directories `given` (-F), of the
/// user and of the system. Empty if there are none. What is missing is reported to `complain`; lines that cannot be
/// parsed are skipped and added to `errors`. Fails with EIO if a given file cannot be read.
Result<std::optional<spec::TableSet>> compile_prototypes(const std::vector<std::string>& given,
                                                         const std::function<void(const std::string&)>& complain,
                                                         std::string& errors);

}  // namespace tracer::app
