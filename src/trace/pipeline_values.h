// The arguments and results of functions, fetched from where calling conventions put them.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/abi.h"
#include "spec/value_class.h"
#include "trace/library_call.h"
#include "trace/memory.h"

namespace tracer::pipeline {

/// Fetches a call's arguments one after the other. What cannot be read is 0.
class ArgumentReader {
 public:
  ArgumentReader(Abi abi, const LibraryEnter& enter, const Memory& memory)
      : abi_(abi), enter_(enter), memory_(memory), stack_(enter.stack_arguments) {}

  std::uint64_t next(spec::ValueClass value);

 private:
  std::uint64_t from_stack(std::size_t size, std::size_t alignment);
  std::uint64_t next_floating(spec::ValueClass value);

  Abi abi_;
  const LibraryEnter& enter_;
  const Memory& memory_;
  std::uint64_t stack_;
  unsigned integers_ = 0;
  unsigned vectors_ = 0;
};

/// A result, as spec::ValueClass says.
std::uint64_t result_value(Abi abi, spec::ValueClass value, const LibraryExit& exit);

}  // namespace tracer::pipeline
