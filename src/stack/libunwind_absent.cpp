// For builds without libunwind (TRACER_LIBUNWIND=OFF).
#include <cerrno>

#include "stack/unwinder.h"

namespace tracer::stack {

Result<std::unique_ptr<Unwinder>> make_libunwind_unwinder() {
  return Error{ENOTSUP, "this build has no libunwind"};
}

}  // namespace tracer::stack
