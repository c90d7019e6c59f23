// Function calls and static probes that the kernel records (FunctionRecorder), so that no thread stops for them. Where
// that would change what the program does, or would show less than a stopped thread does, a breakpoint does it.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "functions/function_table.h"
#include "functions/thread_state.h"
#include "trace/function_recorder.h"

namespace tracer::functions {

class Recorder {
 public:
  /// `only_probes`: no functions are asked for.
  Recorder(std::shared_ptr<trace::FunctionRecorder> kernel, FunctionTable& functions, bool only_probes)
      : kernel_(std::move(kernel)), functions_(functions), only_probes_(only_probes) {}

  /// Records at these addresses. Returns those that are recorded now.
  std::set<std::uint64_t> watch(ptrace::Tracee& tracee, const std::vector<std::uint64_t>& addresses);
  /// Whether libraries, which say what the program's calls take, are yet to be mapped by the loader. Until then the
  /// program itself does not run.
  [[nodiscard]] static bool is_too_early(const Breakpoints& space);
  void forget(pid_t process, std::uint64_t start, std::uint64_t end) { kernel_->forget(process, start, end); }
  /// The modules are others than before. If one walks stacks now, though calls are recorded, breakpoints have to report
  /// their returns from now on; true if so.
  bool leave_returns(ptrace::Tracee& tracee);
  void take(const std::function<void(const trace::FunctionRecorder::Hit&)>& handle) { kernel_->take(handle); }
  [[nodiscard]] std::uint64_t lost() const { return kernel_->lost(); }

 private:
  /// Empty: it cannot be recorded.
  std::optional<trace::FunctionRecorder::Place> place_of(ptrace::Tracee& tracee, const library::Module& module,
                                                         std::uint64_t address, const Breakpoint& point) const;

  std::shared_ptr<trace::FunctionRecorder> kernel_;
  FunctionTable& functions_;
  bool only_probes_;
};

/// Whether the stacks of a process are walked, or switched between, where we do not see it begin, which replaced return
/// addresses do not survive.
bool walks_stacks(const Breakpoints& space);
std::optional<trace::ErrnoPlace> errno_place_of(const ptrace::Tracee& tracee);

/// What is known of a thread at a place that the kernel has recorded.
class RecordedContext final : public trace::CallContext {
 public:
  explicit RecordedContext(std::optional<int> error) : error_(error) {}
  [[nodiscard]] std::optional<Value> vector(unsigned) const override { return std::nullopt; }
  [[nodiscard]] std::optional<Value> x87(unsigned) const override { return std::nullopt; }
  [[nodiscard]] std::optional<int> error_number() const override { return error_; }

 private:
  std::optional<int> error_;
};

}  // namespace tracer::functions
