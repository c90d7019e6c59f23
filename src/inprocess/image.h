// What a process has of ours: the recorder with its tables, the table of owners, and the threads' areas.
#pragma once

#include <sys/types.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/mapping.h"
#include "base/result.h"
#include "capture/function_plan.h"
#include "capture/plans.h"
#include "inprocess/inject.h"
#include "inprocess/layout.h"
#include "ptrace/call_recorder.h"
#include "trace/engine.h"
#include "trace/library_call.h"

namespace tracer::inprocess {

/// What to copy of a call of this function in a process, or why it cannot be recorded.
using PlanFunction = std::function<Result<capture::FunctionPlan>(const trace::LibraryFunction&, Abi, pid_t)>;

/// What the recorder does beside carrying out plans.
struct WhatIsRecorded {
  using Calls = std::bitset<trace::max_filtered_number>;  ///< of the native ABI

  Calls calls;       ///< that the recorder makes and records
  Calls unrecorded;  ///< that the recorder makes, as they would stop for nothing
  Calls counted;     ///< that it makes and counts
  std::array<StopCondition, most_stop_conditions> conditions{};  ///< those of these that it leaves to the program
  Calls forking;                                                 ///< that may copy the memory to a child
  Calls unmapping;                ///< after which memory may be gone that could be read before; it makes none of them
  bool times = false;             ///< of those that are counted
  std::uint32_t names = 0;        ///< NamesWanted
  std::uint32_t stopped = 0;      ///< Tables::stopped
  std::uint32_t stack_bytes = 0;  ///< Tables::stack_bytes
  /// Calls after which a process may see other paths than the tracer does, so that all its calls stop from then on.
  /// Empty: paths are of no interest.
  std::optional<trace::WantedCalls> root_changing;
  PlanFunction plan_function;  ///< empty: calls of functions are not recorded
};

/// The recorder and its tables as every process gets them.
class ImageContents {
 public:
  ImageContents(const capture::CapturePlans& plans, const WhatIsRecorded& what);

  /// The bytes from recorder_address on.
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] const Symbols& symbols() const { return symbols_; }
  [[nodiscard]] bool makes(std::uint64_t number) const {
    return number < what_.calls.size() && (what_.calls[number] || what_.unrecorded[number] || what_.counted[number]);
  }
  [[nodiscard]] bool forks(std::uint64_t number) const {
    return number < what_.forking.size() && what_.forking[number];
  }
  /// Whether a call of the native ABI with these arguments may take memory away.
  [[nodiscard]] bool unmaps(std::uint64_t number, std::span<const std::uint64_t> arguments) const;
  [[nodiscard]] const PlanFunction& plan_function() const { return what_.plan_function; }
  [[nodiscard]] bool follows_roots() const { return what_.root_changing.has_value(); }
  [[nodiscard]] bool changes_root(const ptrace::CallState& entry) const {
    return what_.root_changing && entry.number < trace::max_filtered_number &&
           (*what_.root_changing)[index_of(entry.abi)][entry.number];
  }
  /// See ptrace::Exemption::last_argument.
  [[nodiscard]] std::uint64_t secret() const { return secret_; }

 private:
  std::vector<std::byte> bytes_;
  Symbols symbols_{};
  WhatIsRecorded what_;
  std::uint64_t secret_;
};

/// The tracer's view of it. What is default-constructed is that of a child that fork has made: it has the recorder, and
/// no areas.
class Image {
 public:
  /// Maps everything into a process, by a thread that is at the exit of a call that was made by the instruction at
  /// `instruction`. No other one that has its memory runs.
  static Result<Image> create(const ImageContents& contents, const ptrace::Stopped& thread, std::uint64_t instruction);
  [[nodiscard]] bool has_areas() const { return areas_ != nullptr; }
  /// Maps the areas that a child lacks.
  Status add_areas(const ptrace::Stopped& thread);
  /// Whether the recorder is where it was mapped to.
  static bool is_in(const ptrace::Stopped& thread, const Symbols& symbols);
  /// Takes everything out of the process again, by a thread that is not about to make a call or to get a signal; none
  /// of those that have its memory runs, or is in code of ours. `instruction`: a call instruction of the program; the
  /// page of the recorder stays if there is none any more.
  static Status remove(const ptrace::Stopped& thread, std::uint64_t instruction);

  [[nodiscard]] Area& area(std::size_t index) const {
    return reinterpret_cast<Area*>(static_cast<std::byte*>(areas_.get()) + commons_size)[index];
  }
  [[nodiscard]] Commons& commons() const { return *static_cast<Commons*>(areas_.get()); }

 private:
  Mapping areas_;
};

/// Writes who owns an area, or that nobody does (0). False if there is no place for it.
bool write_owner(const ptrace::Stopped& thread, std::uint64_t thread_pointer, std::uint64_t area, std::size_t place);

}  // namespace tracer::inprocess
