// Programs as Linux 7.0 and later get them, loaded by a kernel that allows what they do but does not need it yet.
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "catch.h"
#include "skip.h"

#include "bpf/counting.h"
#include "bpf/embedded.h"
#include "bpf/kernel_programs.h"
#include "bpf/kernel_version.h"
#include "bpf/tracing.h"

namespace tracer::test {
namespace {

bpf::KernelPrograms opened(std::span<const std::byte> object, const char* name) {
  auto programs = bpf::KernelPrograms::open(object, name);
  REQUIRE(programs);
  return std::move(programs).value();
}

void check_that_they_load(bpf::KernelPrograms& programs) {
  const Status loaded = programs.load();
  INFO((loaded ? "" : loaded.error().message));
  CHECK(loaded);
}

}  // namespace

TEST_CASE("programs that disable preemption can be loaded", "[bpf]") {
  if (const std::string why = bpf::why_not_loadable(); !why.empty()) {
    SKIP(why);
  }
  if (::syscall(SYS_bpf, BPF_MAP_CREATE, nullptr, 0) < 0 && errno == ENOSYS) {
    SKIP("there is no bpf(2), as in an emulator");
  }
  // Before 6.15, what disables preemption could call no function that the verifier looks at by itself.
  if (bpf::kernel_version() < std::pair(6UL, 15UL)) {
    SKIP("the kernel is too old");
  }
  bpf::KernelPrograms counting = opened(bpf::counting_object(), "counting");
  auto& count = counting.initial<counting_settings>(".rodata.settings");
  count.threads.preemptible = count.threads.times = count.threads.cpu_time = 1;
  count.sampled = GENERATE(0U, 1U);
  check_that_they_load(counting);

  bpf::KernelPrograms tracing = opened(bpf::tracing_object(), "tracing");
  auto& trace = tracing.initial<tracing_settings>(".rodata.settings");
  trace.threads.preemptible = trace.threads.times = trace.threads.cpu_time = 1;
  trace.filter.any = trace.commands = trace.descriptors = trace.details = trace.processes = trace.task_states = 1;
  trace.stack_bytes = 8192;
  tracing.leave_out_unless_possible("on_group_exit");
  check_that_they_load(tracing);
}

}  // namespace tracer::test
