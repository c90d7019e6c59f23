// Uprobes at many places of a file at once. Private to this directory.
#pragma once

#include <bpf/libbpf.h>
#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/unique_fd.h"

namespace tracer::bpf {

/// Before 6.10 (commit 46ba0e49b642), uprobes of many places that are chosen by process saw its first thread alone.
inline constexpr std::pair<unsigned long, unsigned long> many_uprobes_at_once_since{6, 10};

/// enum bpf_attach_type of programs that are attached to many places.
inline constexpr unsigned many_uprobes_attach_type = 48;

/// From 6.13 (commit d920179b3d48) on, one program runs at the entry of a function and at its return, and says at the
/// entry whether it wants the return.
inline constexpr std::pair<unsigned long, unsigned long> uprobe_sessions_since{6, 13};
inline constexpr unsigned uprobe_session_attach_type = 57;

struct Uprobes {
  const bpf_program* program = nullptr;
  const std::string& file;
  std::span<const std::uint64_t> offsets;
  std::span<const std::uint64_t> cookies;  ///< one for each offset
  pid_t process = 0;
  unsigned attach_type = many_uprobes_attach_type;
};

/// They last as long as the descriptor, which is invalid if the kernel cannot take one of the places.
UniqueFd attach_uprobes(const Uprobes& uprobes);

/// Removes what stands at addresses from `start` to before `end`, and calls `release` with each.
template <typename Places, typename Release>
void take_between(Places& places, std::uint64_t start, std::uint64_t end, Release release) {
  const auto first = places.lower_bound(start);
  const auto last = places.lower_bound(end);
  for (auto at = first; at != last; ++at) {
    release(at->second);
  }
  places.erase(first, last);
}

}  // namespace tracer::bpf
