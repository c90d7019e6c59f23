// Whether this machine lets us watch by BPF.
#pragma once

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <utility>

#include "catch.h"
#include "skip.h"

#include "program_run.h"

namespace tracer::live {

inline bool kernel_is_at_least(int wanted_major, int wanted_minor) {
  utsname system{};
  int major = 0;
  int minor = 0;
  ::uname(&system);
  return std::sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
         std::pair(major, minor) >= std::pair(wanted_major, wanted_minor);
}

/// Why nobody could watch by BPF on this machine, as far as a test finds out without the tracer; empty if nothing is
/// in the way.
inline std::string why_no_bpf_here() {
  if (!kernel_is_at_least(5, 12)) {
    return "the kernel is too old";
  }
  bpf_attr map{};
  map.map_type = BPF_MAP_TYPE_ARRAY;
  map.key_size = map.value_size = 4;
  map.max_entries = 1;
  const long made = ::syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map);
  if (made < 0) {
    return "bpf(2) fails here with error " + std::to_string(errno);
  }
  ::close(static_cast<int>(made));
  if (::access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
    return "the kernel does not describe its types";
  }
  std::ifstream lockdown("/sys/kernel/security/lockdown");
  std::ostringstream state;
  state << lockdown.rdbuf();
  return state.str().find("[confidentiality]") != std::string::npos ? "the kernel is locked down" : "";
}

/// Why a tracer that must use BPF does not run; empty if it does. Only a machine on which that cannot be and a build
/// without BPF have a reason: otherwise the test fails.
inline std::string why_no_bpf(const std::string& options = "-c") {
  const Ran tried = run("exec $T --engine=bpf -o /dev/null " + options + " true 2>&1");
  if (tried.status == 0) {
    return "";
  }
  const std::string why = tried.mentions("made without the BPF engine") ? "no BPF in this build" : why_no_bpf_here();
  INFO("The tracer says: " << (tried.lines.empty() ? "nothing" : tried.lines.front()));
  CHECK(why != "");
  // A CI machine has it: that the machine has changed must not go unnoticed.
  CHECK_FALSE((std::getenv("CI") != nullptr && ::geteuid() == 0));
  return why.empty() ? "unknown" : why;
}

inline void skip_without_bpf(const std::string& options = "-c") {
  if (const std::string why = why_no_bpf(options); !why.empty()) {
    SKIP(why);
  }
}

/// For a part of a test, which says so when it leaves that out.
inline bool bpf_works() {
  const std::string why = why_no_bpf();
  if (!why.empty()) {
    std::cout << "left out: " << why << '\n';
  }
  return why.empty();
}

/// How many descriptors of BPF objects the process has.
inline std::size_t bpf_descriptors(pid_t pid) {
  std::size_t found = 0;
  std::error_code gone;
  for (const auto& fd : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone)) {
    found += std::filesystem::read_symlink(fd, gone).string().rfind("anon_inode:bpf", 0) == 0 ? 1U : 0U;
  }
  return found;
}

}  // namespace tracer::live
