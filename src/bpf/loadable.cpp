// Why the kernel would not take our programs, found out before it is asked: its own answer is EPERM for everything.
#include <linux/capability.h>
#include <unistd.h>

#include "base/read_file.h"
#include "bpf/kernel_programs.h"
#include "proc/proc_files.h"

namespace tracer::bpf {
namespace {

bool has_capabilities() {
  return proc::has_capability(CAP_SYS_ADMIN) || (proc::has_capability(CAP_PERFMON) && proc::has_capability(CAP_BPF));
}

}  // namespace

std::string why_not_loadable() {
  if (!has_capabilities()) {
    return "BPF takes the capabilities CAP_BPF and CAP_PERFMON; run as root, or give a copy of the tracer that only a "
           "trusted group can run (chgrp, chmod 0750) these with setcap cap_bpf,cap_perfmon+ep";
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

}  // namespace tracer::bpf
