// Why the kernel would not take our programs, found out before it is asked: its own answer is EPERM for everything.
#include <unistd.h>

#include <cstdlib>

#include "base/read_file.h"
#include "bpf/kernel_programs.h"
#include "process/proc_files.h"

namespace tracer {
namespace {

constexpr unsigned cap_sys_admin = 21;  // linux/capability.h, some of them newer than Debian's
constexpr unsigned cap_perfmon = 38;
constexpr unsigned cap_bpf = 39;

bool has_capabilities() {
  const std::uint64_t mask = std::strtoull(status_field(::getpid(), "CapEff").c_str(), nullptr, 16);
  const auto has = [mask](unsigned capability) { return (mask >> capability & 1) != 0; };
  return has(cap_sys_admin) || (has(cap_perfmon) && has(cap_bpf));
}

}  // namespace

std::string why_not_loadable() {
  if (!has_capabilities()) {
    return "BPF takes the capabilities CAP_BPF and CAP_PERFMON; run as root, or give them to the tracer with "
           "setcap cap_bpf,cap_perfmon+ep";
  }
  if (::access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
    return "the kernel does not describe its types (/sys/kernel/btf/vmlinux is missing); it has to be built with "
           "CONFIG_DEBUG_INFO_BTF";
  }
  if (read_file("/sys/kernel/security/lockdown").find("[confidentiality]") != std::string::npos) {
    return "the kernel is locked down for confidentiality, which lets no BPF program read its memory; boot with "
           "lockdown=integrity or without it";
  }
  return {};
}

}  // namespace tracer
