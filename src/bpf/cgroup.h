// Control groups by their directories.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace tracer::bpf {

/// `path` is a directory of cgroup v2, or what follows after the place where that is mounted. The error is one
/// sentence.
Result<UniqueFd> open_cgroup(const std::string& path);

}  // namespace tracer::bpf
