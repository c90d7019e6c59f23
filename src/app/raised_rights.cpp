#include "app/raised_rights.h"

#include <linux/capability.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "base/require.h"

namespace tracer::app {

bool has_raised_rights() {
  return ::getauxval(AT_SECURE) != 0 && ::getuid() != 0;
}

void drop_raised_rights() {
  if (!has_raised_rights()) {
    return;
  }
  const gid_t gid = ::getgid();
  const uid_t uid = ::getuid();
  require(::setresgid(gid, gid, gid) == 0 && ::setresuid(uid, uid, uid) == 0, "the ids of the user can be taken");
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  constexpr std::uint64_t kept = std::uint64_t{1} << CAP_BPF | std::uint64_t{1} << CAP_PERFMON;
  require(::syscall(SYS_capget, &header, sets.data()) == 0, "capget");
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const auto mask = static_cast<std::uint32_t>(kept >> (32 * i));
    sets[i].effective &= mask;
    sets[i].permitted &= mask;
    sets[i].inheritable = 0;
  }
  require(::syscall(SYS_capset, &header, sets.data()) == 0, "capset");
  // Of a set-user-ID program, and so of a program that it starts until execve, the kernel says that nobody may trace it
  // (ptrace(2)). It has read nothing yet that its user could not.
  require(::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0, "PR_SET_DUMPABLE");
}

}  // namespace tracer::app
