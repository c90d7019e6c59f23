// Where descriptions of functions come from that the tables do not have.
#pragma once

#include <sys/types.h>

#include "spec/spec.h"
#include "trace/library_call.h"

namespace tracer::trace {

class PrototypeSource {
 public:
  PrototypeSource() = default;
  PrototypeSource(const PrototypeSource&) = delete;
  PrototypeSource& operator=(const PrototypeSource&) = delete;
  virtual ~PrototypeSource() = default;

  /// What the tables have from now on; null if nobody knows. Asked at every call. `tid`: of a thread that calls it.
  virtual const spec::Call* find(const LibraryFunction& function, pid_t tid) = 0;
};

}  // namespace tracer::trace
