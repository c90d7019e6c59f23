// Where the program is built without libunwind (TRACER_LIBUNWIND=OFF).
#include "stack/unwinder.h"

namespace tracer::stack {

std::unique_ptr<Unwinder> make_libunwind_unwinder() {
  return nullptr;
}

}  // namespace tracer::stack
