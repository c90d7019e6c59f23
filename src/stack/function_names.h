// What the functions are called that a process has pointers to.
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
  /// The function whose code begins at the address, demangled; empty if none does that has a name. `tid`: of a stopped
  /// thread that has the memory.
  std::string at(pid_t tid, std::uint64_t address);

 private:
  static constexpr std::size_t most_threads = 256;

  std::uint64_t generations_ = 0;
  std::map<pid_t, AddressSpace> spaces_;  ///< by thread
  ObjectCache objects_;
};

}  // namespace tracer::stack
