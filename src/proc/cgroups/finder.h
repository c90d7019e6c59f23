// Finds the control group that a user means by a unit or a container.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "proc/cgroups/target.h"

namespace tracer::proc::cgroups {

/// Where to look: the machine, or what a test has built.
struct Places {
  std::string mount;  ///< of cgroup v2
  std::string root;   ///< below which runtimes note their containers; empty: the machine's
};

struct Found {
  std::optional<std::string> group;  ///< its path below the mount; nothing if the target does not run now
  std::string hint;                  ///< `; did you mean X?` if nothing is known by that name but by a similar one
};

/// Returns the option of the target as a user writes it: `--unit=cron`, printable.
[[nodiscard]] std::string option_of(const Target& target);

/// Looks for a unit or a container. The error, one sentence, is that several are meant.
Result<Found> find(const Target& target, const Places& places);

/// Looks once for each target, before anything is started. The error is one sentence: a path that is not there, a name
/// that means several, or no cgroup v2.
Status check(const std::vector<Target>& targets);

}  // namespace tracer::proc::cgroups
