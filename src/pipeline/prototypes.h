// The prototypes of functions, and the arguments and results that they describe.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "decode/decoder.h"
#include "trace/library_call.h"
#include "trace/memory.h"
#include "trace/prototype_source.h"

namespace tracer::pipeline {

class Prototypes {
 public:
  /// `source` finds prototypes of functions without a description; null: nothing does. It outlives this.
  Prototypes(const spec::Tables& tables, trace::PrototypeSource* source) : tables_(tables), source_(source) {}

  /// Returns the prototype of a function; null if it has none. `tid`: a thread that calls the function.
  [[nodiscard]] const spec::Call* find(const trace::LibraryFunction& function, pid_t tid);

  /// Reads the words of the arguments. They are valid until the next call of a member.
  std::span<const std::uint64_t> arguments(const spec::Call& function, const trace::LibraryEnter& enter, Abi abi,
                                           const trace::Memory& memory);

  /// Reads the result of the call with this entry; a structure from `result_address`, which is LibraryEnter's.
  decode::Outcome outcome(const decode::Entry& entry, std::uint64_t result_address, const trace::LibraryExit& exit,
                          const trace::Memory& memory);

 private:
  [[nodiscard]] const spec::Call* look_up(const trace::LibraryFunction& function, pid_t tid) const;
  [[nodiscard]] const spec::Call* find_of_user(const trace::LibraryFunction& function) const;
  [[nodiscard]] const spec::Call* find_for_module(std::string_view module, std::string_view name) const;

  const spec::Tables& tables_;
  trace::PrototypeSource* source_;
  std::unordered_map<std::uint32_t, const spec::Call*> known_;  ///< by function number
  std::vector<std::uint64_t> values_;  ///< words of arguments, or of a structure that is returned
};

}  // namespace tracer::pipeline
