// Parses -e inject= and -e fault=.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "filter/syscall_set.h"

namespace tracer::cli {

enum class Tampering : std::uint8_t { inject, fault };

/// Parses `SET[:ACTION]…`. Warnings are added to `warnings`, without the program's name.
[[nodiscard]] Result<Injection> parse_injection(std::string_view text, Tampering kind,
                                                const filter::SyscallNames& names, std::vector<std::string>& warnings);

}  // namespace tracer::cli
