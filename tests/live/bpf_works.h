// Whether this machine lets us watch by BPF.
#pragma once

#include <iostream>

#include "program_run.h"

namespace tracer::live {

/// False, with the reason on standard output, where this machine lets nobody count by BPF.
inline bool bpf_works() {
  const Ran tried = run("exec $T --engine=bpf -c -o /dev/null true 2>&1");
  if (tried.status != 0) {
    std::cout << "skipped: " << (tried.lines.empty() ? "no reason was given" : tried.lines.front()) << '\n';
  }
  return tried.status == 0;
}

}  // namespace tracer::live
