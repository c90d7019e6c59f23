#include "bpf/perf_tracepoint.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "base/number_text.h"
#include "base/read_file.h"

namespace tracer::bpf {
namespace {

/// A tracefs, or what open(2) or fsmount(2) says instead (errno).
UniqueFd open_tracefs() {
  for (const char* directory : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    if (::access((std::string(directory) + "/events").c_str(), F_OK) == 0) {
      return UniqueFd(::open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
  }
  const UniqueFd system(::fsopen("tracefs", FSOPEN_CLOEXEC));
  if (!system.valid() || ::fsconfig(system.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    return UniqueFd();
  }
  return UniqueFd(::fsmount(system.get(), FSMOUNT_CLOEXEC, 0));
}

/// Empty if it cannot be read (errno).
std::optional<std::uint64_t> number_of(const UniqueFd& tracefs, const char* name) {
  return number_at<std::uint64_t>(read_file(fmt::format("/proc/self/fd/{}/events/{}/id", tracefs.get(), name)));
}

}  // namespace

Result<UniqueFd> open_tracepoint(const char* name) {
  const UniqueFd tracefs = open_tracefs();
  const auto number = tracefs.valid() ? number_of(tracefs, name) : std::nullopt;
  if (!number) {
    const int error = errno;
    return Error{error,
                 fmt::format("tracepoint {}: {}; mount tracefs on /sys/kernel/tracing, and be allowed to read it", name,
                             std::strerror(error))};
  }
  perf_event_attr event{};
  event.size = sizeof event;
  event.type = PERF_TYPE_TRACEPOINT;
  event.config = *number;
  UniqueFd opened(static_cast<int>(::syscall(SYS_perf_event_open, &event, -1, 0, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!opened.valid()) {
    const int error = errno;
    return Error{error, fmt::format("tracepoint {}: {}; perf events take CAP_PERFMON", name, std::strerror(error))};
  }
  return opened;
}

}  // namespace tracer::bpf
