// What a trace file says of itself: the first block.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/abi.h"
#include "base/result.h"

namespace tracer::replay {

/// A reader refuses files of a later major version. A minor version adds records that older readers pass over.
/// Version 1 had facts among the events, version 2 had one event behind the other; version 3 had no column of the
/// lowest bytes of times.
inline constexpr unsigned format_major = 4;
inline constexpr unsigned oldest_major = 3;  ///< that is read
inline constexpr unsigned format_minor = 0;

struct Head {
  std::string tracer;                ///< the version of the program that recorded
  std::string machine;               ///< uname(2): system, release and machine
  std::string boot_id;               ///< /proc/sys/kernel/random/boot_id
  std::vector<std::string> command;  ///< of the tracer, with all options
  std::vector<std::string> program;  ///< the program that it started; empty with -p only
  std::string engine;                ///< ptrace, bpf or inprocess
  Abi native = Abi::x86_64;
  std::chrono::nanoseconds started{};  ///< CLOCK_REALTIME
  std::uint64_t page_size = 0;
  std::uint32_t string_limit = 0;  ///< how much of a string was captured, in bytes
  bool attached = false;           ///< -p
  bool follows_forks = false;      ///< -f
  bool has_scope = false;          ///< --system-wide and the like: threads come and go
  bool stacks = false;             ///< -k
  bool sources = false;            ///< -kk
  bool cpu_times = false;          ///< the system CPU time of calls was taken
  bool names = true;               ///< what descriptors and ids stand for was captured with each call
  /// The name and the text of the files of --define.
  std::vector<std::pair<std::string, std::string>> definitions;
};

/// Returns the records of the block.
[[nodiscard]] std::string encode(const Head& head);
/// Reads them; an error without a number says in words why it cannot.
[[nodiscard]] Result<Head> decode_head(std::string_view block);

}  // namespace tracer::replay
