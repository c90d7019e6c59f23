// A file in memory that a tracee has made and shares with us.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "base/mapping.h"
#include "base/result.h"

namespace tracer::ptrace {

/// The flags with which memfd_create(2) makes such a file.
std::uint64_t shared_file_flags();

/// Gives the file, which has just been made as `descriptor` of the thread, this size for good, and maps it here.
/// `more_seals`: F_SEAL_…, from when it is mapped. An error if it is another file by now.
Result<Mapping> map_shared_file(pid_t tid, std::uint64_t descriptor, std::size_t size, int more_seals);

}  // namespace tracer::ptrace
