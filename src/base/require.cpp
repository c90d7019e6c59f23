#include "base/require.h"

#include <cstdio>
#include <cstdlib>

namespace tracer {

void requirement_failed(const char* what, const std::source_location& where) {
  std::fprintf(stderr, "tracer: internal error: %s (%s:%u)\n", what, where.file_name(),
               static_cast<unsigned>(where.line()));
  std::abort();
}

}  // namespace tracer
