// Tracks the executable mappings of processes. They are read again only after a system call that may change them.
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
#include "trace/event.h"
#include "trace/memory.h"

namespace tracer::stack {

class AddressSpace {
 public:
  /// `generations` counts the changes of all address spaces and must outlive this.
  explicit AddressSpace(std::uint64_t& generations) : generations_(&generations), generation_(++generations) {}

  /// Returns a number that identifies this set of mappings among those of all processes and times.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  /// Call this before each stack walk. The mappings stay the same until the next walk. `tid` is a thread of the
  /// process.
  void begin_walk(pid_t tid);
  /// Uses the mappings that an engine has captured at the event.
  void begin_walk(pid_t tid, std::span<const proc::MappedRange> captured);
  /// Returns the executable mapping that contains `address`, or null. It is valid until the next call, its path until
  /// the next walk.
  Mapping* find(std::uint64_t address);
  /// Returns the object that `mapping` maps; null if there is none.
  static ElfObject* object(Mapping& mapping, pid_t tid, const trace::Memory& memory, ObjectCache& objects);

  void mark_stale() { stale_ = true; }
  /// A process that is not traced shares this memory, so that mappings may change at any time.
  void set_untraced_sharer() { has_untraced_sharer_ = true; }
  /// Whether there may be code in this range now.
  [[nodiscard]] bool has_code(std::uint64_t start, std::uint64_t length) const;

 private:
  void begin(pid_t tid);
  void reread();
  void replace(std::vector<Mapping> now);

  std::vector<Mapping> mappings_;  ///< executable ones, sorted by address
  std::vector<Mapping> previous_;  ///< kept until the next walk, because frames refer to them
  std::size_t last_ = 0;           ///< index of the mapping that was found last
  std::uint64_t* generations_;
  std::uint64_t generation_;
  pid_t tid_ = 0;
  bool stale_ = true;
  bool has_untraced_sharer_ = false;
  bool reread_after_miss_ = false;  ///< a failed lookup has read the mappings again; another read is useless
};

/// How a system call may change the executable mappings.
enum class MappingCall : std::uint8_t {
  none,
  map,      ///< mmap
  protect,  ///< mprotect
  unmap,    ///< munmap and others that take a range
  remap,    ///< mremap
  detach,   ///< shmdt
  other,    ///< any of these, with arguments that are not decoded here
  clone,    ///< clone, clone3 and vfork
};
MappingCall mapping_call(Abi abi, std::string_view name);

/// The address spaces of all processes, kept up to date by events.
class AddressSpaces {
 public:
  /// `follows_children` says that every process that shares memory with a tracee is traced too.
  AddressSpaces(const spec::Tables& tables, bool follows_children);

  void observe(const trace::Event& event, const trace::Memory& memory);
  AddressSpace& of(pid_t process);

 private:
  /// A system call in progress.
  struct Change {
    MappingCall call;
    std::uint64_t start;
    std::uint64_t length;
    bool relevant;  ///< it affects code or, for `clone`, shares memory
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
