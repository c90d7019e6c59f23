// Fetches the arguments and results of functions according to the calling convention.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/abi.h"
#include "spec/value_class.h"
#include "trace/library_call.h"
#include "trace/memory.h"

namespace tracer::arch {

/// Fetches a call's arguments one after the other. An argument that cannot be read is 0.
class ArgumentReader {
 public:
  ArgumentReader(Abi abi, const trace::LibraryEnter& enter, const trace::Memory& memory)
      : abi_(abi), enter_(enter), memory_(memory), stack_(enter.stack_arguments) {}

  /// Appends the words of the next argument to `words`.
  void next(const spec::PassedValue& value, std::vector<std::uint64_t>& words);
  /// Skips the hidden first argument that holds the address of `result`, if the convention returns it that way.
  void skip_hidden_pointer(const spec::PassedValue& result);

 private:
  std::uint64_t next(spec::ValueClass value);
  void next_structure(const spec::PassedValue& value, std::span<std::byte> into);
  void structure_from_stack(const spec::PassedValue& value, std::span<std::byte> into);
  std::uint64_t from_stack(std::size_t size, std::size_t alignment);
  std::uint64_t next_floating(spec::ValueClass value);

  Abi abi_;
  const trace::LibraryEnter& enter_;
  const trace::Memory& memory_;
  std::uint64_t stack_;
  unsigned integers_ = 0;
  unsigned vectors_ = 0;
};

/// Returns the result of class `value`.
std::uint64_t result_value(Abi abi, spec::ValueClass value, const trace::LibraryExit& exit);

/// Fetches the words of a structure that is returned; false if it cannot be read. `result_address` is
/// LibraryEnter::result_address.
bool result_structure(Abi abi, const spec::PassedValue& value, const trace::LibraryExit& exit,
                      std::uint64_t result_address, const trace::Memory& memory, std::vector<std::uint64_t>& words);

}  // namespace tracer::arch
