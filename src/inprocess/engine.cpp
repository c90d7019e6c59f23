#include "inprocess/engine.h"

#include <cerrno>
#include <utility>

#include "arch/call_site.h"
#include "arch/syscall_abi.h"
#include "capture/plans.h"
#include "inprocess/call_recording.h"
#include "inprocess/embedded.h"
#include "ptrace/engine.h"

namespace tracer::inprocess {

Result<std::unique_ptr<trace::Engine>> make_inprocess_engine(process::EngineOptions options, const spec::Tables& tables,
                                                             const capture::CaptureLimits& limits,
                                                             const std::function<void(const std::string&)>& complain) {
  if (const Status able = arch::can_record_inside(); !able) {
    return able.error();
  }
  if (recorder_code().empty()) {
    return Error{ENOSYS, "this build has no recorder"};
  }
  if (!options.launch || !options.attach.empty()) {
    return Error{EINVAL,
                 "processes that run already have no filter of ours; only a program that is started can be "
                 "recorded"};
  }
  if (!options.no_filter_because.empty()) {
    return Error{EINVAL, options.no_filter_because};
  }
  const Abi abi = arch::native_abi();
  auto recorded = arch::recordable_calls();
  if (options.wanted) {
    recorded &= (*options.wanted)[index_of(abi)];
  }
  const auto make = [&](ptrace::RecordedCalls& calls) {
    return std::make_unique<CallRecording>(
        ImageContents(capture::make_capture_plans(tables, mask_of(abi), limits), recorded), !options.wanted, calls,
        options.debug);
  };
  return ptrace::make_ptrace_engine(options, complain, {}, make);
}

}  // namespace tracer::inprocess
