// Leads the calls of a process through the recorder: the instruction before a call becomes a jump to a stub.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "arch/call_site.h"
#include "inprocess/layout.h"
#include "ptrace/stopped_thread.h"
#include "trace/memory.h"

namespace tracer::inprocess {

/// Why a call site was left as it is; `none`: it was patched.
enum class LeftBecause : std::uint8_t {
  none,
  unknown_function,  ///< no unwind information says where its function begins, or it is no file's code
  immovable,         ///< the instructions before it
  no_room,           ///< near it
  refused,           ///< by the kernel
};

/// A description of the reason, for a person.
std::string_view describe(LeftBecause reason);

/// What was patched in one process. A copy is that of a child that fork has made.
class Patcher {
 public:
  /// Patches the site of the call instruction at `call`. The thread is at the exit of a call, and no other one that has
  /// its memory runs.
  LeftBecause patch(const ptrace::Stopped& thread, const trace::Memory& memory, std::uint64_t call,
                    const Symbols& symbols);

  /// What is at an address in a stub; empty if it is in none.
  [[nodiscard]] std::optional<arch::MovedInstruction> find(std::uint64_t address) const;
  /// Puts the instruction back whose stub is at `address`; empty if there is none, else where the program goes on.
  std::optional<std::uint64_t> undo(const ptrace::Stopped& thread, std::uint64_t address);
  /// Puts all instructions back, where there are still jumps of ours, and unmaps the stubs if `unmaps`. See
  /// Image::remove(). False if some stubs are left.
  bool undo_all(const ptrace::Stopped& thread, const Symbols& symbols, bool unmaps) const;

 private:
  struct Stub {
    arch::CallSite site;
    arch::SiteJump replaced{};
    std::vector<arch::MovedInstruction> moved;
    std::size_t size = 0;  ///< bytes
  };
  struct Page {
    std::uint64_t address = 0;
    std::uint64_t used = 0;
  };

  /// Whether the code at the stub's site is the jump to it, and no other code that was mapped there since.
  static bool leads_to(const Stub& stub, std::uint64_t address, std::span<const std::byte> code);
  static void put_back(const ptrace::Stopped& thread, std::uint64_t address, const Stub& stub);
  Page* page_near(const ptrace::Stopped& thread, std::string_view map, std::uint64_t address, const Symbols& symbols);

  std::map<std::uint64_t, Stub> stubs_;
  std::vector<Page> pages_;
};

}  // namespace tracer::inprocess
