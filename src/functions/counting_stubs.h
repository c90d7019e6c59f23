// Calls through linkage tables that a process counts itself. The jumps there lead to stubs near the code, which write
// counters in memory that the process shares with us.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "arch/counting_stub.h"
#include "base/mapping.h"
#include "base/result.h"
#include "functions/inject.h"
#include "ptrace/stopped_thread.h"
#include "trace/library_call.h"
#include "trace/memory.h"

namespace tracer::functions {

/// Where other threads that have the memory may be while code is replaced.
enum class Others : std::uint8_t {
  none,       ///< there are none that run
  elsewhere,  ///< not in code that is replaced
  anywhere,
};

/// The counters of a process and of those that it creates by fork, which leaves them in common. So a counter is one
/// function's for good.
class FunctionCounters {
 public:
  /// Has the thread map them. `name`: address of a text in the process. An error as of inject_call().
  static Result<std::shared_ptr<FunctionCounters>> create(const ptrace::Stopped& thread, Filtered filtered,
                                                          std::uint64_t name);
  /// The same as Breakpoints::unmap().
  bool unmap(const ptrace::Stopped& thread, Filtered filtered) const;

  /// Returns the address in the process of a function's counter in the first shard; empty if there is none left.
  std::optional<std::uint64_t> counter_of(trace::LibraryFunction& function);
  struct Count {
    trace::LibraryFunction* function = nullptr;
    std::uint64_t calls = 0;  ///< never 0
  };
  /// Returns what was counted since the last call, by any of the processes.
  std::vector<Count> take();
  [[nodiscard]] bool contains(std::uint64_t address) const { return address - address_ < size; }

 private:
  static constexpr std::size_t size = arch::counter_shards * arch::counter_shard_size;

  Mapping ours_;
  std::uint64_t address_ = 0;  ///< in the process
  std::vector<trace::LibraryFunction*> functions_;
  std::map<const trace::LibraryFunction*, std::size_t> numbers_;
};

/// Those of one address space; a fork's child has its own copy. A thread that runs into a trap at one of the jumps has
/// come while it was replaced, or has the trap from before a fork.
class CountingStubs {
 public:
  struct Place {
    std::uint64_t address = 0;
    std::span<const std::byte> code;  ///< that is there
    trace::LibraryFunction* function = nullptr;
    std::uint64_t recorder = 0;     ///< address of what records calls; 0: they are counted
    std::vector<std::byte> info{};  ///< what that knows of the function
  };
  /// Returns the start of so many bytes near an address, for code; 0 if there is no room.
  using FindRoom = std::function<std::uint64_t(std::uint64_t address, std::size_t size)>;

  using Chooses = std::function<bool(const trace::LibraryFunction&)>;

  /// Counts or records calls at these places. Returns the addresses of those where that is possible.
  std::set<std::uint64_t> add(const ptrace::Stopped& thread, std::span<const Place> places, const FindRoom& find_room,
                              Others others, Filtered filtered);
  /// Puts the code back at the places of the functions that `is_chosen` is true for. Returns their addresses.
  std::vector<std::uint64_t> remove(const ptrace::Stopped& thread, const Chooses& is_chosen, Others others);
  /// The same at one place.
  void remove_at(const ptrace::Stopped& thread, std::uint64_t place, Others others);
  /// The code there is gone.
  void forget(std::uint64_t start, std::uint64_t end);
  /// Unmaps the counters; as Breakpoints::unmap().
  bool unmap(const ptrace::Stopped& thread, Filtered filtered);

  /// Returns what was counted since the last call.
  [[nodiscard]] std::vector<FunctionCounters::Count> take();

  /// Where a thread comes to the trap at `address` whose call the recorder has not taken.
  struct Untaken {
    std::uint64_t place = 0;
    std::uint64_t jump = 0;
    std::uint64_t slot = 0;
  };
  [[nodiscard]] std::optional<Untaken> find_untaken(std::uint64_t address) const;

  /// Whether calls are open that go back to what stubs hold, so that these have to stay.
  [[nodiscard]] bool have_to_stay() const { return records_; }

  /// Whether there is or was a jump to a stub.
  [[nodiscard]] bool has_jump_at(std::uint64_t address) const { return stubs_.contains(address); }
  /// A thread has run into a trap where there is, or was, a jump to a stub: sees to it that there is none any more.
  void mend(const ptrace::Stopped& thread, std::uint64_t address, Others others);
  /// Gives a thread in a stub the registers that it would have without us. False if it is in none.
  bool lead_out(arch::Registers& registers, const trace::Memory& memory) const;
  struct Lost {
    std::uint64_t place = 0;
    std::uint64_t jump = 0;
  };
  /// Returns the place whose stub, where the instruction at `address` is, has faulted at `fault` because memory of ours
  /// is gone.
  [[nodiscard]] std::optional<Lost> find_lost(std::uint64_t address, std::uint64_t fault) const;

 private:
  struct Stub {
    std::uint64_t place = 0;
    std::uint64_t code = 0;
    std::size_t size = 0;
    bool records = false;     ///< an arch::RecordingStub
    std::size_t counted = 0;  ///< arch::CountingStub::counted
    std::uint64_t slot = 0;
    std::array<std::byte, arch::SlotJump::size> before{};
    std::array<std::byte, arch::SlotJump::size> jump{};
    trace::LibraryFunction* function = nullptr;
    bool active = false;  ///< the jump is there
  };
  using ByJump = std::map<std::uint64_t, Stub>;

  bool has_counters(const ptrace::Stopped& thread, Filtered filtered, std::uint64_t near, const FindRoom& find_room);
  std::optional<Stub> make_recording_stub(const ptrace::Stopped& thread, const Place& place, const arch::SlotJump& jump,
                                          const FindRoom& find_room);
  std::optional<Stub> make_counting_stub(const ptrace::Stopped& thread, const Place& place, const arch::SlotJump& jump,
                                         const FindRoom& find_room);
  std::uint64_t take_room(std::uint64_t address, const FindRoom& find_room);
  /// Makes the code at these jumps what `active` says.
  static void write(const ptrace::Stopped& thread, const std::vector<ByJump::value_type*>& stubs, Others others);
  [[nodiscard]] const ByJump::value_type* find_by_code(std::uint64_t address) const;

  std::shared_ptr<FunctionCounters> counters_;
  bool cannot_count_ = false;
  bool records_ = false;
  ByJump stubs_;                                    ///< by the address of the jump
  std::map<std::uint64_t, std::uint64_t> by_code_;  ///< from Stub::code to that
  std::vector<std::uint64_t> free_;                 ///< room of stubs that are forgotten
};

}  // namespace tracer::functions
