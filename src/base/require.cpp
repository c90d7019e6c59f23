#include "base/require.h"

#include <cstdio>
#include <cstdlib>

namespace tracer {
inline namespace base {

void requirement_failed(const char* what, const char* file, int line) {
  std::fprintf(stderr, "tracer: internal error: %s (%s:%d)\n", what, file, line);
  std::abort();
}

}  // namespace base
}  // namespace tracer
