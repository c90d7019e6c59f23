#include "bpf/uprobe_links.h"

#include <bpf/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tracer::bpf {
namespace {

/// The part of union bpf_attr that BPF_LINK_CREATE reads for BPF_TRACE_UPROBE_MULTI (Linux 6.6, which
/// is newer than Debian's headers).
struct UprobeMultiLink {
  std::uint32_t program = 0;
  std::uint32_t target = 0;
  std::uint32_t attach_type = many_uprobes_attach_type;
  std::uint32_t flags = 0;
  std::uint64_t path = 0;
  std::uint64_t offsets = 0;
  std::uint64_t reference_counters = 0;
  std::uint64_t cookies = 0;
  std::uint32_t count = 0;
  std::uint32_t probe_flags = 0;
  std::uint32_t pid = 0;
  std::uint32_t unused = 0;
};

}  // namespace

UniqueFd attach_uprobes(const Uprobes& uprobes) {
  UprobeMultiLink link;
  link.program = static_cast<std::uint32_t>(bpf_program__fd(uprobes.program));
  link.path = reinterpret_cast<std::uintptr_t>(uprobes.file.c_str());
  link.offsets = reinterpret_cast<std::uintptr_t>(uprobes.offsets.data());
  link.cookies = reinterpret_cast<std::uintptr_t>(uprobes.cookies.data());
  link.count = static_cast<std::uint32_t>(uprobes.offsets.size());
  link.attach_type = uprobes.attach_type;
  link.pid = static_cast<std::uint32_t>(uprobes.process);
  return UniqueFd(static_cast<int>(::syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof link)));
}

}  // namespace tracer::bpf
