// Filters calls and signals. Cheap checks come first: a call that is filtered out is not decoded.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "decode/decoder.h"
#include "filter/end_filter.h"
#include "filter/number_set.h"
#include "filter/path.h"
#include "filter/syscall_set.h"
#include "spec/spec.h"
#include "spec/sub_calls.h"
#include "trace/memory.h"

namespace tracer::pipeline {

struct FilterOptions {
  filter::SyscallSet calls = filter::SyscallSet::all();
  filter::NumberSet signals = filter::NumberSet::all();
  filter::PathSet paths;                       ///< -P
  std::optional<filter::NumberSet> trace_fds;  ///< --trace-fds
  filter::EndFilter end;
};

class Filter {
 public:
  Filter(FilterOptions options, const spec::Tables& tables, const decode::Decoder& decoder,
         names::DescriptorNames& names);

  /// Returns the number of the call in sets and counts: its own, or that of a sub-call (socketcall, ipc).
  [[nodiscard]] std::uint64_t number_of(const decode::Entry& entry, const trace::Memory& memory) const {
    return sub_calls_.go_through(entry.abi, entry.number) ? sub_call_of(entry, memory) : entry.number;
  }
  /// Checks the result of number_of(); a number without a description always passes.
  [[nodiscard]] bool wants(Abi abi, std::uint64_t number) const {
    return options_.calls.contains(abi, number) || is_unknown(abi, number);
  }
  /// Checks the paths and descriptors among the arguments: -P and --trace-fds.
  [[nodiscard]] bool wants_arguments(const decode::Entry& entry, const trace::Memory& memory) const {
    return !by_arguments() || matches_arguments(entry, memory);
  }
  [[nodiscard]] bool wants_signal(int signal) const {
    return options_.signals.contains(static_cast<std::uint32_t>(signal));
  }
  [[nodiscard]] bool wants_status(filter::CallStatus status) const { return options_.end.status.has(status); }
  [[nodiscard]] bool wants_end(const decode::Outcome& outcome, std::chrono::nanoseconds duration) const;

  /// Returns whether the arguments matter.
  [[nodiscard]] bool by_arguments() const { return !options_.paths.empty() || options_.trace_fds; }

 private:
  [[nodiscard]] std::uint64_t sub_call_of(const decode::Entry& entry, const trace::Memory& memory) const;
  [[nodiscard]] bool is_unknown(Abi abi, std::uint64_t number) const;
  [[nodiscard]] bool matches_arguments(const decode::Entry& entry, const trace::Memory& memory) const;
  void resolve(const decode::Entry& entry, const trace::Memory& memory) const;
  [[nodiscard]] bool has_fds_inside(const spec::Signature& signature) const;
  [[nodiscard]] bool matches_inside(const decode::Entry& entry, const trace::Memory& memory) const;
  [[nodiscard]] bool matches_fd(const names::Task& task, std::int32_t fd) const;
  [[nodiscard]] bool matches_path(RemoteAddr address, const trace::Memory& memory) const;

  FilterOptions options_;
  const spec::Tables& tables_;
  spec::SubCalls sub_calls_;
  const decode::Decoder& decoder_;
  names::DescriptorNames& names_;
  std::unique_ptr<decode::CallState, void (*)(decode::CallState*)> state_;  ///< of the call that is checked
};

}  // namespace tracer::pipeline
