// What can be read of a thread that is stopped at the start or the end of a call, or at a static probe.
#pragma once

#include <algorithm>
#include <variant>

#include "arch/breakpoint.h"
#include "functions/thread_state.h"
#include "ptrace/tracee.h"
#include "trace/library_call.h"

namespace tracer::functions {

class StoppedContext final : public trace::CallContext {
 public:
  StoppedContext(const ptrace::Tracee& tracee, const arch::Registers& registers)
      : tracee_(tracee), registers_(registers) {}

  [[nodiscard]] std::optional<Value> vector(unsigned index) const override {
    return part(arch::float_layout().vectors + index * sizeof(Value), sizeof(Value));
  }
  [[nodiscard]] std::optional<Value> x87(unsigned index) const override {
    return arch::float_layout().x87 == 0 ? std::nullopt : part(arch::float_layout().x87 + index * sizeof(Value), 10);
  }
  [[nodiscard]] std::optional<int> error_number() const override {
    const auto thread = arch::thread_pointer(registers_, register_sets());
    for (const auto& [start, module] : space_of(tracee_).modules) {
      const library::Symbol* symbol = module.file->find_function("__errno_location");
      const auto place =
          thread && symbol != nullptr
              ? arch::errno_address(registers_.mode_abi(), module.bias + symbol->address, tracee_.memory, *thread)
              : std::nullopt;
      int number = 0;
      const auto into = std::as_writable_bytes(std::span(&number, 1));
      if (place && tracee_.memory.read(RemoteAddr(*place), into) == into.size()) {
        return number;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] arch::ReadRegisterSet register_sets() const {
    return [this](unsigned which, std::span<std::byte> into) {
      return ptrace::stopped_thread(tracee_).register_set(which, into);
    };
  }

 private:
  [[nodiscard]] std::optional<Value> part(std::size_t at, std::size_t size) const {
    if (size_ == 0) {
      size_ = ptrace::stopped_thread(tracee_).register_set(arch::float_layout().register_set, bytes_);
    }
    if (at + size > size_) {
      return std::nullopt;
    }
    Value value{};
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at), size, value.begin());
    return value;
  }

  const ptrace::Tracee& tracee_;
  const arch::Registers& registers_;
  mutable std::array<std::byte, 1024> bytes_{};
  mutable std::size_t size_ = 0;
};

}  // namespace tracer::functions
