// A source of descriptions of functions that the tables do not have.
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

  /// Returns the description, which it adds to the tables; null if it finds none. Called for each call. `tid` is a
  /// thread that calls the function.
  virtual const spec::Call* find(const LibraryFunction& function, pid_t tid) = 0;
};

}  // namespace tracer::trace
