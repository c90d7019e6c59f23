// --format=sqlite: a data base of tables that tracer(1) describes.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "pipeline/exports/exporter.h"

namespace tracer::pipeline::exports {

/// Reports one sentence to the user.
using Complain = std::function<void(std::string_view)>;

/// Opens a data base in an empty file. All is written in one transaction, which finish() ends. The first failure is
/// reported, and nothing is written any more.
[[nodiscard]] Result<std::unique_ptr<Exporter>> make_sqlite(const std::string& path, Complain complain);

}  // namespace tracer::pipeline::exports
