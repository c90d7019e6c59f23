// What the code in a process's memory is, kept as long as the kernel has not been asked to change it.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "spec/spec.h"
#include "stack/mappings.h"
#include "stack/object_cache.h"
#include "trace/circumstances.h"
#include "trace/event.h"
#include "trace/memory.h"

namespace tracer::stack {

class AddressSpace {
 public:
  /// `generations` counts all changes of all address spaces; it outlives this.
  explicit AddressSpace(std::uint64_t& generations) : generations_(&generations), generation_(++generations) {}

  /// Another number for whatever else is or was mapped, here or in another process.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  /// Before a stack is walked: nothing changes until the next one. `tid` is a thread of it.
  void begin_walk(pid_t tid);
  /// The same where an engine has captured what the process looked like.
  void begin_walk(pid_t tid, std::span<const proc::MappedRange> then);
  /// The mapping that has `address`; null: there is no code. Valid until the next call; its path, until the next walk.
  Mapping* find(std::uint64_t address);
  /// The object behind a mapping of this; null if there is none.
  static ElfObject* object(Mapping& mapping, pid_t tid, const trace::Memory& memory, ObjectCache& objects);

  void changed() { stale_ = true; }
  /// Something may change it that is not seen.
  void set_unwatched() { unwatched_ = true; }
  /// Whether code can be there now.
  [[nodiscard]] bool has_code(std::uint64_t start, std::uint64_t length) const;

 private:
  void begin(pid_t tid);
  void reread();
  void replace(std::vector<Mapping> now);

  std::vector<Mapping> mappings_;  ///< those of code, by their addresses
  std::vector<Mapping> former_;    ///< until the next walk begins: frames may speak of them
  std::size_t last_ = 0;           ///< found most recently
  std::uint64_t* generations_;
  std::uint64_t generation_;
  pid_t tid_ = 0;
  bool stale_ = true;
  bool unwatched_ = false;
  bool missed_ = false;  ///< something was looked for in vain that a second reading did not bring either
};

/// What a call may do to the code in memory.
enum class MappingCall : std::uint8_t {
  none,
  map,      ///< mmap
  protect,  ///< mprotect
  unmap,    ///< munmap and others that name a range
  move,     ///< mremap
  detach,   ///< shmdt
  other,    ///< any of these, in a form that does not tell
  start,    ///< clone and vfork
};
MappingCall mapping_call(Abi abi, std::string_view name);

/// The address spaces of all processes. Follows the events.
class AddressSpaces {
 public:
  /// `follows_children`: whoever comes to share memory with a process that is seen, is seen too.
  AddressSpaces(const spec::Tables& tables, bool follows_children);

  void observe(const trace::Event& event, const trace::Memory& memory);
  AddressSpace& of(pid_t process);

 private:
  /// A call in progress.
  struct Change {
    MappingCall call;
    std::uint64_t start;
    std::uint64_t length;
    bool relevant;  ///< code is concerned, or, of `start`, memory is shared
  };
  static constexpr std::size_t highest_number = 1024;

  void on_enter(const trace::Event& event, const trace::SyscallEnter& enter, const trace::Memory& memory);
  void on_exit(const trace::Event& event, const trace::SyscallExit& exit);
  void on_fork(const trace::Event& event, const trace::Fork& fork);
  Change change_of(const trace::Event& event, MappingCall call, const trace::SyscallEnter& enter,
                   const trace::Memory& memory);

  bool follows_children_;
  std::uint64_t generations_ = 0;
  std::array<std::array<MappingCall, highest_number>, abi_count> calls_{};
  std::unordered_map<pid_t, std::shared_ptr<AddressSpace>> spaces_;  ///< by process
  std::unordered_map<pid_t, Change> changes_;                        ///< by thread
};

}  // namespace tracer::stack
