// Which values a function of a library takes and returns, for whoever fetches them from registers and stack.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spec/spec.h"
#include "spec/value_class.h"
#include "trace/memory.h"

namespace tracer::decode {

/// Those of the described parameters, in the order of C. A parameter that only some forms of the function have
/// (open's mode) is among them.
std::vector<spec::PassedValue> fixed_arguments(const spec::Tables& tables, const spec::Call& function, Abi abi);

/// Those that follow them because the format says so (Varargs), at most so many that all are
/// spec::most_parameters. `fixed` are the words of the values of fixed_arguments(); the format is read from the tracee.
std::vector<spec::ValueClass> variable_arguments(const spec::Tables& tables, const spec::Call& function, Abi abi,
                                                 std::span<const std::uint64_t> fixed, const trace::Memory& memory);

/// The result; of class `nothing` for void.
spec::PassedValue result_of(const spec::Tables& tables, const spec::Call& function, Abi abi);

}  // namespace tracer::decode
