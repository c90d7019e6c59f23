#include "pipeline/exports/sqlite.h"

namespace tracer::pipeline::exports {

// The parameters are those of the real function.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
Result<std::unique_ptr<Exporter>> make_sqlite(const std::string& /*path*/, Complain /*complain*/) {
  return Error{0,
               "--format=sqlite: this tracer was built without SQLite, or as a static program, which cannot load it"};
}

}  // namespace tracer::pipeline::exports
