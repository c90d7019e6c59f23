#include "ptrace/seccomp_filter.h"

#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <span>

#include "arch/syscall_abi.h"

namespace tracer::ptrace {
namespace {

enum class Action : std::uint8_t { allow, trace, trace_set_seccomp, trace_untraced, trace_commands };

/// Calls from `first` on, up to the next range.
struct Range {
  std::uint32_t first;
  Action action;

  bool operator==(const Range&) const = default;
};

class ProgramWriter {
 public:
  explicit ProgramWriter(std::span<const std::uint32_t> commands) : commands_(commands) {}

  void load(std::size_t offset) { put(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
  void mask(std::uint32_t bits) { put(BPF_ALU | BPF_AND | BPF_K, bits); }

  /// What `body` writes runs only if `condition` holds for `value`; otherwise the program goes on behind it.
  template <typename Body>
  void when(std::uint16_t condition, std::uint32_t value, Body body) {
    put(static_cast<std::uint16_t>(BPF_JMP | condition | BPF_K), value, 1, 0);
    // A conditional jump reaches 255 instructions only; this one reaches any distance.
    const std::size_t over = code_.size();
    put(BPF_JMP | BPF_JA, 0);
    body();
    code_[over].k = static_cast<std::uint32_t>(code_.size() - over - 1);
  }

  void finish(Action action) {
    if (action == Action::trace_set_seccomp) {
      load(offsetof(seccomp_data, args[0]));  // the lower half, on a little-endian machine
      when(BPF_JEQ, PR_SET_SECCOMP, [this] { finish(Action::trace); });
      action = Action::allow;
    } else if (action == Action::trace_untraced) {
      load(offsetof(seccomp_data, args[0]));
      when(BPF_JSET, CLONE_UNTRACED, [this] { finish(Action::trace); });
      action = Action::allow;
    } else if (action == Action::trace_commands) {
      load(offsetof(seccomp_data, args[1]));
      for (const std::uint32_t command : commands_) {
        when(BPF_JEQ, command, [this] { finish(Action::trace); });
      }
      action = Action::allow;
    }
    put(BPF_RET | BPF_K, action == Action::trace ? SECCOMP_RET_TRACE | our_filter_data : SECCOMP_RET_ALLOW);
  }

  /// Finds the range of the number in the accumulator by halving.
  void choose(std::span<const Range> ranges) {
    if (ranges.size() == 1) {
      finish(ranges[0].action);
      return;
    }
    const std::size_t middle = ranges.size() / 2;
    when(BPF_JGE, ranges[middle].first, [&] { choose(ranges.subspan(middle)); });
    choose(ranges.first(middle));
  }

  [[nodiscard]] std::vector<sock_filter> take() { return std::move(code_); }

 private:
  void put(std::uint16_t code, std::uint32_t k, std::uint8_t if_true = 0, std::uint8_t if_false = 0) {
    code_.push_back({code, if_true, if_false, k});
  }

  std::span<const std::uint32_t> commands_;
  std::vector<sock_filter> code_;
};

using Numbers = std::bitset<trace::max_filtered_number>;

std::vector<Range> ranges_of(const Numbers& wanted, const Numbers& by_command, const arch::FilterArch& arch) {
  std::vector<Range> ranges;
  const auto add = [&](std::size_t first, Action action) {
    if (ranges.empty() || ranges.back().action != action) {
      ranges.push_back({static_cast<std::uint32_t>(first), action});
    }
  };
  for (std::size_t number = 0; number < wanted.size(); ++number) {
    if (wanted[number] && by_command[number]) {
      add(number, Action::trace_commands);
    } else if (wanted[number] || number == arch.seccomp_number || number == arch.clone3_number) {
      add(number, Action::trace);  // the flags of clone3 are in memory, which a filter does not see
    } else if (number == arch.clone_number) {
      add(number, Action::trace_untraced);
    } else {
      add(number, number == arch.prctl_number ? Action::trace_set_seccomp : Action::allow);
    }
  }
  add(wanted.size(), Action::trace);
  return ranges;
}

/// Lets calls pass by where they come from, before anything else is asked, and stops those whose first argument is an
/// address near there, as it is of mmap and munmap. Halves of numbers as on a little-endian
/// machine.
void exempt(ProgramWriter& program, const Exemption& exemption) {
  constexpr unsigned half = 32;
  const auto high = [](std::uint64_t value) { return static_cast<std::uint32_t>(value >> half); };
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  const auto load_upper = [&](std::size_t offset) { program.load(offset + sizeof(std::uint32_t)); };
  load_upper(offsetof(seccomp_data, instruction_pointer));
  program.when(BPF_JEQ, high(exemption.page), [&] {
    program.load(offsetof(seccomp_data, instruction_pointer));
    program.mask(~low(exemption.page_size - 1));
    program.when(BPF_JEQ, low(exemption.page), [&] { program.finish(Action::allow); });
  });
  constexpr std::size_t last = offsetof(seccomp_data, args[5]);
  program.load(offsetof(seccomp_data, nr));
  program.when(BPF_JEQ, low(exemption.number), [&] {
    program.load(last);
    program.when(BPF_JEQ, low(exemption.last_argument), [&] {
      load_upper(last);
      program.when(BPF_JEQ, high(exemption.last_argument), [&] { program.finish(Action::allow); });
    });
  });
  load_upper(offsetof(seccomp_data, args[0]));
  program.when(BPF_JEQ, high(exemption.page), [&] { program.finish(Action::trace); });
}

bool kernel_has_filters() {
  const std::uint32_t action = SECCOMP_RET_TRACE;
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

}  // namespace

std::vector<sock_filter> make_seccomp_filter(const trace::WantedCalls& wanted, const trace::WantedCommands& commands,
                                             const std::optional<Exemption>& exemption) {
  bool useful = exemption.has_value();
  ProgramWriter program(commands.commands);
  if (exemption) {
    exempt(program, *exemption);
  }
  program.load(offsetof(seccomp_data, arch));
  for (const arch::FilterArch& arch : arch::filter_arches()) {
    useful = useful || !wanted[index_of(arch.abi)].all();
    program.when(BPF_JEQ, arch.audit_arch, [&] {
      program.load(offsetof(seccomp_data, nr));
      if (arch.other_bit != 0) {
        program.when(BPF_JSET, arch.other_bit, [&] {
          program.mask(~arch.other_bit);
          program.choose(ranges_of(wanted[index_of(arch.other)], commands.calls[index_of(arch.other)], arch));
        });
      }
      program.choose(ranges_of(wanted[index_of(arch.abi)], commands.calls[index_of(arch.abi)], arch));
    });
  }
  program.finish(Action::trace);
  std::vector<sock_filter> code = program.take();
  if (!useful || code.size() > BPF_MAXINSNS || !kernel_has_filters()) {
    return {};
  }
  return code;
}

bool installs_filter(const CallState& entry) {
  const arch::FilterArch* arch = arch::filter_arch_of(entry.abi);
  return arch != nullptr &&
         (entry.number == arch->seccomp_number ||
          (entry.number == arch->prctl_number && static_cast<std::uint32_t>(entry.args[0]) == PR_SET_SECCOMP));
}

}  // namespace tracer::ptrace
