// What calls, forks and execs change about which descriptors refer to which open file (open(2): open file description).
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "spec/spec.h"
#include "trace/engine.h"

namespace tracer::replay::viewer {

struct DescriptorChange {
  enum class Kind : std::uint8_t {
    opens,       ///< `fd` refers to a file that it did not refer to before
    duplicates,  ///< `fd` refers to the file of `from`
    closes,      ///< `fd` up to `last`
    keeps,       ///< F_SETFD: `until_exec` of `fd`
    forks,       ///< the process `child` has the descriptors of this one
    executes,    ///< what is `until_exec` is closed
    exits,
  };
  Kind kind = Kind::opens;
  bool until_exec = false;
  pid_t tid = 0;
  pid_t tgid = 0;
  pid_t child = 0;
  std::int32_t fd = 0;
  std::int32_t from = 0;
  std::int32_t last = 0;
  // CLOCK_MONOTONIC. A call that closes does so when it begins, one that opens when it ends.
  std::chrono::nanoseconds began{};
  std::chrono::nanoseconds time{};
};

/// Collects the changes of all events that it handles, in their order.
class DescriptorChanges final : public trace::EventHandler {
 public:
  /// `tables` outlive this.
  explicit DescriptorChanges(const spec::Tables& tables) : tables_(tables) {}

  [[nodiscard]] const std::vector<DescriptorChange>& all() const { return changes_; }

  trace::Verdict handle(const trace::Event& event, const trace::Memory& memory) override;
  void idle() override {}

 private:
  enum class Effect : std::uint8_t { none, opens, pair, dup, dup2, closes, closes_range, fcntl };
  struct Called {
    Effect effect = Effect::none;
    std::string_view name;
  };
  struct Open {
    Called call;
    std::array<std::uint64_t, 6> args{};
    std::chrono::nanoseconds began{};
  };

  [[nodiscard]] Called called(Abi abi, std::uint64_t number);
  void begins(const trace::Event& event, const trace::SyscallEnter& enter);
  void ends(const trace::Event& event, const trace::SyscallExit& exit, const trace::Memory& memory);
  void add(const trace::Event& event, const Open& call, DescriptorChange change);

  const spec::Tables& tables_;
  std::unordered_map<const spec::Call*, Called> known_;
  std::unordered_map<pid_t, Open> open_;  ///< calls that have begun, by thread
  std::vector<DescriptorChange> changes_;
};

}  // namespace tracer::replay::viewer
