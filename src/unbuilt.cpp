#include "unbuilt.h"

#include <algorithm>
#include <array>

namespace tracer {
namespace {

struct Missing {
  bool asked;
  const char* sentence;
};

}  // namespace

std::optional<std::string> not_built_yet(const cli::Options& options) {
  const cli::Extras& extras = options.extras;
  const cli::Format& format = options.format;
  const std::array missing{
      Missing{extras.engine == cli::EngineChoice::bpf,
              "--engine=bpf: this build has no BPF engine; leave the option out to trace with ptrace"},
      Missing{extras.system_wide || !extras.cgroups.empty() || !extras.comms.empty(),
              "--system-wide, --cgroup and --comm need the BPF engine, which this build does not have; use -p"},
      Missing{!extras.libraries.empty() || !extras.symbols.empty() || !extras.probes.empty(),
              "-e library=, -e symbol= and -e usdt=: this build traces system calls only"},
      Missing{!extras.define.empty(), "--define: this build cannot load descriptions at run time"},
      Missing{extras.doctor, "--doctor: this build does not have it"},
      Missing{options.tips.shown, "--tips: this build has none"},
      Missing{format.stack_trace != cli::StackTrace::none, "-k: this build cannot print stack traces"},
      Missing{format.kvm != cli::Kvm::none, "-e kvm=: this build cannot decode what KVM_RUN leaves behind"},
      Missing{format.namespaces, "--namespace: this build cannot show namespaces"},
      Missing{format.color == cli::Color::always, "--color=always: this build has no colours; use --color=auto"},
      Missing{format.pid_details.has(cli::PidDetail::pidns),
              "--pidns-translation: this build shows process ids as the tracee has them; leave the option out"},
  };
  const auto* found = std::find_if(missing.begin(), missing.end(), [](const Missing& m) { return m.asked; });
  return found == missing.end() ? std::nullopt : std::optional<std::string>(found->sentence);
}

}  // namespace tracer
