#include "app/function_plans.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "arch/breakpoint.h"
#include "arch/passed_values.h"
#include "decode/function_values.h"

namespace tracer::app {
namespace {

/// A stack whose words say which they are, so that what is read from there shows where it comes from.
class NumberedStack final : public trace::Memory {
 public:
  static constexpr std::uint64_t start = 0x10000;

  explicit NumberedStack(std::uint64_t first) : first_(first) {}

  [[nodiscard]] std::size_t read(RemoteAddr address, std::span<std::byte> into) const override {
    constexpr std::uint64_t word = 8;
    constexpr std::uint64_t most = 6;  // that are recorded
    const std::uint64_t which = (address.value() - start) / word;
    if (which >= most || into.size() > word) {
      is_left = true;
      return 0;
    }
    const std::uint64_t number = first_ + which;
    std::copy_n(std::as_bytes(std::span(&number, 1)).begin(), into.size(), into.begin());
    return into.size();
  }

  mutable bool is_left = false;  ///< somebody has read what is not recorded

 private:
  std::uint64_t first_;
};

bool is_floating(spec::ValueClass value) {
  return value == spec::ValueClass::single || value == spec::ValueClass::floating ||
         value == spec::ValueClass::extended;
}

/// Whether only registers have it that the kernel's programs cannot read, or another place than words of its own.
bool is_out_of_reach(const spec::PassedValue& value) {
  return is_floating(value.value_class) || value.value_class == spec::ValueClass::structure;
}

std::optional<std::vector<std::uint8_t>> words_of(const spec::Tables& tables, const spec::Call& function, Abi abi) {
  const auto registers = static_cast<std::uint64_t>(arch::argument_words().registers.size());
  trace::LibraryEnter numbered;
  for (std::uint64_t i = 0; i < registers; ++i) {
    numbered.integers[i] = i;
  }
  numbered.stack_arguments = NumberedStack::start;
  const NumberedStack stack(registers);
  std::vector<std::uint64_t> numbers;
  arch::ArgumentReader reader(abi, numbered, stack);
  reader.skip_hidden_pointer(decode::result_of(tables, function, abi));
  for (const spec::PassedValue& value : decode::fixed_arguments(tables, function, abi)) {
    if (is_out_of_reach(value)) {
      return std::nullopt;
    }
    reader.next(value, numbers);
  }
  if (stack.is_left) {
    return std::nullopt;
  }
  return std::vector<std::uint8_t>(numbers.begin(), numbers.end());
}

}  // namespace

bpf::PlanFunction function_planner(const spec::Tables& tables, trace::PrototypeSource& source,
                                   capture::CaptureLimits limits) {
  const auto prototypes = std::make_shared<pipeline::Prototypes>(tables, &source);
  return [&tables, prototypes, limits](const trace::LibraryFunction& function, Abi abi,
                                       pid_t tid) -> std::optional<capture::FunctionPlan> {
    const spec::Call* call = prototypes->find(function, tid);
    if (call == nullptr) {
      return capture::FunctionPlan{};  // its arguments are shown as the registers have them
    }
    if (call->varargs != spec::Varargs::none || is_out_of_reach(decode::result_of(tables, *call, abi))) {
      return std::nullopt;
    }
    auto words = words_of(tables, *call, abi);
    if (!words) {
      return std::nullopt;
    }
    capture::FunctionPlan plan = capture::plan_function(tables, abi, *call, limits);
    plan.words = std::move(*words);
    return plan;
  };
}

inprocess::PlanFunction leaf_function_planner(const spec::Tables& tables, trace::PrototypeSource& source,
                                              capture::CaptureLimits limits) {
  return [&tables, plan = function_planner(tables, source, limits)](const trace::LibraryFunction& function, Abi abi,
                                                                    pid_t tid) -> Result<capture::FunctionPlan> {
    const spec::Call* call = tables.find(function.library, function.name);
    if (call == nullptr || !call->leaf) {
      return Error{ENOTSUP, "it is not described as a leaf"};
    }
    auto planned = plan(function, abi, tid);
    if (!planned) {
      return Error{ENOTSUP, "it takes or returns what is not copied"};
    }
    return std::move(*planned);
  };
}

}  // namespace tracer::app
