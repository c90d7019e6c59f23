// The sysc that the build runs makes the text of the descriptions, so it knows none itself.
#include "sysc/builtin_sources.h"

namespace tracer::sysc {

std::vector<Source> builtin_sources() {
  return {};
}

}  // namespace tracer::sysc
