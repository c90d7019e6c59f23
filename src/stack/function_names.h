// Names of functions to which a process has pointers.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "stack/address_space.h"
#include "stack/object_cache.h"

namespace tracer::stack {

class FunctionNames {
 public:
  /// Returns the demangled name of the function that starts at `address`; empty if there is none. `tid` is a stopped
  /// thread of the process.
  std::string at(pid_t tid, std::uint64_t address);

 private:
  static constexpr std::size_t max_threads = 256;

  std::uint64_t generations_ = 0;
  std::map<pid_t, AddressSpace> spaces_;  ///< by thread
  ObjectCache objects_;
  debuginfo::Reader reader_;
};

}  // namespace tracer::stack
