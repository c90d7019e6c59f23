// The namespaces that a call enters or creates for a child.
#include <sched.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

namespace {

constexpr std::uint64_t statmount_size = 512;  ///< sizeof(struct statmount): the texts stand behind it

/// The texts of statmount(2) from an offset on, or nothing if they are not all in the buffer.
std::vector<std::byte> mounted_at(const decode::CustomContext& context, std::uint64_t offset) {
  constexpr std::uint64_t max_size = 64 * 1024;
  const RemoteAddr buffer(context.argument("buf").value_or(0));
  std::array<std::byte, 4> head{};
  if (context.memory().read(buffer, head) != head.size()) {
    return {};
  }
  const auto size = number_at(head, 0, 4);
  if (size > context.argument("bufsize").value_or(0) || statmount_size + offset >= size) {
    return {};
  }
  std::vector<std::byte> texts(static_cast<std::size_t>(std::min(size - statmount_size - offset, max_size)));
  return context.memory().read(buffer + (statmount_size + offset), texts) == texts.size() ? texts
                                                                                          : std::vector<std::byte>{};
}

/// Emits the first text and returns what is behind it.
std::span<const std::byte> emit_mounted(render::Emitter& out, std::span<const std::byte> texts) {
  const auto end = static_cast<std::size_t>(std::find(texts.begin(), texts.end(), std::byte{0}) - texts.begin());
  render::StringForm form;
  form.cut = end == texts.size();
  out.bytes(texts.first(form.cut ? end - 1 : end), form);
  return form.cut ? std::span<const std::byte>{} : texts.subspan(end + 1);
}

}  // namespace

/// Shows a text of statmount(2); its offset, if it is not in the buffer.
bool mounted_text(decode::CustomContext& context) {
  std::array<std::byte, 4> raw{};
  if (!context.copy(raw)) {
    return false;
  }
  const auto offset = number_at(raw, 0, 4);
  if (const auto texts = mounted_at(context, offset); !texts.empty()) {
    emit_mounted(context.out(), texts);
  } else {
    context.number(offset, spec::Style::hex, 4, false);
  }
  return true;
}

/// Shows a list of texts of statmount(2): `["rw", "noatime"]`. How many there are stands before the offset.
bool mounted_texts(decode::CustomContext& context) {
  std::array<std::byte, 4> raw{};
  std::array<std::byte, 4> number{};
  if (!context.copy(raw) ||
      context.memory().read(RemoteAddr(context.address().value() - number.size()), number) != number.size()) {
    return false;
  }
  const auto offset = number_at(raw, 0, 4);
  const auto texts = mounted_at(context, offset);
  if (texts.empty()) {
    context.number(offset, spec::Style::hex, 4, false);
    return true;
  }
  auto& out = context.out();
  const auto count = number_at(number, 0, 4);
  const std::uint64_t limit = context.depth().abbreviate ? context.options().string_limit : count;
  std::span<const std::byte> rest(texts);
  out.begin_array();
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i >= limit || !context.spend()) {
      out.more();
      break;
    }
    out.begin_element();
    if (rest.empty()) {
      out.symbol("???");
      break;
    }
    rest = emit_mounted(out, rest);
  }
  out.end_array();
  return true;
}

}  // namespace tracer::decoders
