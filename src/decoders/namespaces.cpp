// The namespaces that a call enters or creates for a child.
#include <sched.h>

#include <array>
#include <string>
#include <string_view>

#include "decoders/decoders.h"
#include "decoders/helpers.h"

namespace tracer::decoders {
namespace {

constexpr std::uint64_t clone_newtime = 0x80;  // linux/sched.h; sched.h of older C libraries lacks it

struct Kind {
  std::uint64_t flag;
  std::string_view link;  ///< in /proc/PID/ns
};

constexpr std::array<Kind, 8> kinds = {{
    {CLONE_NEWCGROUP, "cgroup"},
    {CLONE_NEWIPC, "ipc"},
    {CLONE_NEWNS, "mnt"},
    {CLONE_NEWNET, "net"},
    {CLONE_NEWPID, "pid"},
    {clone_newtime, "time"},
    {CLONE_NEWUSER, "user"},
    {CLONE_NEWUTS, "uts"},
}};

std::uint64_t flags_of_call(decode::CustomContext& context) {
  const auto& args = context.entry().args;
  const auto name = context.call_name();
  if (name == "clone3") {
    std::array<std::byte, 8> raw{};
    return context.memory().read(RemoteAddr(args[0]), raw) == raw.size() ? number_at(raw, 0, 8) : 0;
  }
  if (name == "setns") {
    return static_cast<std::uint32_t>(args[1]);
  }
  return name == "clone" ? args[0] & ~std::uint64_t{CSIGNAL} : args[0];
}

}  // namespace

bool new_namespaces(decode::CustomContext& context) {
  const auto* outcome = context.outcome();
  const auto name = context.call_name();
  const bool makes_child = name == "clone" || name == "clone3";
  if (outcome == nullptr || outcome->is_error || (makes_child && outcome->value <= 0)) {
    return true;
  }
  const auto child = makes_child ? static_cast<std::int32_t>(outcome->value) : 0;
  const auto flags = flags_of_call(context);
  auto& out = context.out();
  bool any = false;
  for (const Kind& kind : kinds) {
    const auto space = (flags & kind.flag) == 0
                           ? std::string{}
                           : std::string(context.names().processes.name_space(context.task(), child, kind.link));
    if (space.empty()) {
      continue;
    }
    any ? void() : out.begin_series(true);
    any = true;
    out.begin_element();
    out.symbol(space);
  }
  any ? out.end_series(true) : void();
  return true;
}

}  // namespace tracer::decoders
