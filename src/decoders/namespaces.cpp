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
  std::string_view name;          ///< prefix of the target of /proc/PID/ns links
  std::string_view own_link;      ///< link of a process created in the namespace
  std::string_view entered_link;  ///< link of the calling process; only children enter PID and time namespaces
};

constexpr std::array<Kind, 8> kinds = {{
    {CLONE_NEWCGROUP, "cgroup", "cgroup", "cgroup"},
    {CLONE_NEWIPC, "ipc", "ipc", "ipc"},
    {CLONE_NEWNS, "mnt", "mnt", "mnt"},
    {CLONE_NEWNET, "net", "net", "net"},
    {CLONE_NEWPID, "pid", "pid", "pid_for_children"},
    {clone_newtime, "time", "time", "time_for_children"},
    {CLONE_NEWUSER, "user", "user", "user"},
    {CLONE_NEWUTS, "uts", "uts", "uts"},
}};

std::uint64_t flag_of_descriptor(decode::CustomContext& context) {
  const auto target =
      context.names().descriptors.path(context.task(), static_cast<std::int32_t>(context.entry().args[0]));
  for (const Kind& kind : kinds) {
    if (target.substr(0, target.find(':')) == kind.name) {
      return kind.flag;
    }
  }
  return 0;
}

std::uint64_t flags_of_call(decode::CustomContext& context) {
  const auto& args = context.entry().args;
  const auto name = context.call_name();
  if (name == "clone3") {
    std::array<std::byte, 8> raw{};
    return context.memory().read(RemoteAddr(args[0]), raw) == raw.size() ? number_at(raw, 0, 8) : 0;
  }
  if (name == "setns") {
    const std::uint64_t asked = static_cast<std::uint32_t>(args[1]);
    return asked != 0 ? asked : flag_of_descriptor(context);
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
  std::array<std::string, kinds.size()> spaces;
  std::size_t count = 0;
  for (const Kind& kind : kinds) {
    if ((flags & kind.flag) != 0) {
      const auto link = makes_child ? kind.own_link : kind.entered_link;
      spaces[count] = context.names().processes.name_space(context.task(), child, link);
      count += spaces[count].empty() ? 0 : 1;
    }
  }
  if (count == 0) {
    return true;
  }
  auto& out = context.out();
  out.begin_series(count == 1);
  for (std::size_t i = 0; i < count; ++i) {
    out.begin_element();
    out.symbol(spaces[i]);
  }
  out.end_series(count == 1);
  return true;
}

}  // namespace tracer::decoders
