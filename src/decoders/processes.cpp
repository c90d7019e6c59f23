// Wait statuses, CPU sets, I/O priorities, and file descriptors of other processes.
#include <algorithm>
#include <array>

#include "decoders/decoders.h"
#include "decoders/helpers.h"
#include "spec/signal_names.h"

namespace tracer::decoders {
namespace {

void append_signal(TextBuffer& text, std::uint64_t number) {
  const auto name = spec::signal_name(number);
  name.empty() ? text.decimal(number) : text.append(name);
}

/// Returns the name of a PTRACE_EVENT_* of ptrace(2), which an event stop or a group-stop has above its signal.
std::string_view ptrace_event(std::uint64_t event) {
  static constexpr std::array<std::string_view, 9> names = {"",
                                                            "PTRACE_EVENT_FORK",
                                                            "PTRACE_EVENT_VFORK",
                                                            "PTRACE_EVENT_CLONE",
                                                            "PTRACE_EVENT_EXEC",
                                                            "PTRACE_EVENT_VFORK_DONE",
                                                            "PTRACE_EVENT_EXIT",
                                                            "PTRACE_EVENT_SECCOMP",
                                                            "PTRACE_EVENT_STOP"};
  if (event == 128) {
    return names.back();
  }
  return event < names.size() - 1 ? names[event] : std::string_view{};
}

void append_event(TextBuffer& text, std::uint64_t event, format::ConstantForm form) {
  text.append('|');
  append_named(text, event, ptrace_event(event), "PTRACE_EVENT_???", form);
  text.append("<<16");
}

void emit_priority(decode::CustomContext& context, std::uint64_t value, spec::Style style) {
  static constexpr std::array<std::string_view, 4> classes = {"IOPRIO_CLASS_NONE", "IOPRIO_CLASS_RT", "IOPRIO_CLASS_BE",
                                                              "IOPRIO_CLASS_IDLE"};
  const auto priority_class = value >> 13;
  TextBuffer text;
  text.append("IOPRIO_PRIO_VALUE(");
  append_named(text, priority_class, priority_class < classes.size() ? classes[priority_class] : std::string_view{},
               "IOPRIO_CLASS_???", context.out().constant_form());
  text.append(", ");
  text.decimal(value & 0x1fff);
  text.append(')');
  context.named(text.view(), static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(value)}), style, true);
}

}  // namespace

/// Shows a wait status by the macros of wait(2).
bool wait_status(decode::CustomContext& context) {
  std::uint64_t status = context.value();
  if (context.in_memory()) {
    std::array<std::byte, 4> raw{};
    if (!context.copy(raw)) {
      return false;
    }
    status = number_at(raw, 0, 4);
  }
  status &= 0xffffffff;
  const auto low = status & 0x7f;
  std::uint64_t rest = 0;
  TextBuffer text;
  if ((status & 0xff) == 0x7f) {
    text.append("{WIFSTOPPED(s) && WSTOPSIG(s) == ");
    append_signal(text, (status >> 8) & 0x7f);
    if ((status >> 8 & 0x80) != 0) {
      text.append(" | 0x80");
    }
    text.append('}');
  } else if (low == 0) {
    text.append("{WIFEXITED(s) && WEXITSTATUS(s) == ");
    text.decimal((status >> 8) & 0xff);
    text.append('}');
    rest = status & 0x80;
  } else if (status == 0xffff) {
    text.append("{WIFCONTINUED(s)}");
  } else if (low == 0x7f) {
    context.number(status, spec::Style::hex, 4, false);  // no macro of wait(2) matches it
    return true;
  } else {
    text.append("{WIFSIGNALED(s) && WTERMSIG(s) == ");
    append_signal(text, low);
    if ((status & 0x80) != 0) {
      text.append(" && WCOREDUMP(s)");
    }
    text.append('}');
    rest = status & 0xff00;
  }
  if (const auto event = status >> 16; event != 0) {
    append_event(text, event, context.out().constant_form());
  }
  if (rest != 0) {
    text.append('|');
    text.hex(rest);
  }
  context.out().symbol(text.view());
  return true;
}

bool cpuset(decode::CustomContext& context) {
  constexpr std::size_t max_bytes = 128;  // 1024 processors
  std::array<std::byte, max_bytes> raw{};
  const auto size = std::min<std::size_t>(context.size(), raw.size());
  const auto bytes = std::span(raw).first(size);
  if (!context.copy(bytes)) {
    return false;
  }
  auto& out = context.out();
  out.begin_list();
  for (std::size_t cpu = 0; cpu < 8 * size; ++cpu) {
    if (bit_of(bytes, cpu) != 0) {
      out.begin_element();
      context.number(cpu, spec::Style::number, 4, false);
    }
  }
  if (size < context.size()) {
    out.more();
  }
  out.end_array();
  return true;
}

/// Shows an I/O priority by IOPRIO_PRIO_VALUE of linux/ioprio.h.
bool ioprio(decode::CustomContext& context) {
  emit_priority(context, context.value() & 0xffffffff, spec::Style::number);
  return true;
}

/// Shows aio_reqprio of a struct iocb. It is an I/O priority only if aio_flags has IOCB_FLAG_IOPRIO.
bool aio_priority(decode::CustomContext& context) {
  constexpr std::uint64_t flags_distance = 38;  // from aio_reqprio to aio_flags
  constexpr std::uint64_t is_priority = 2;      // IOCB_FLAG_IOPRIO
  std::array<std::byte, 2> raw{};
  std::array<std::byte, 4> flags{};
  if (!context.copy(raw)) {
    return false;
  }
  const bool known = context.memory().read(context.address() + flags_distance, flags) == flags.size();
  if (!known || (number_at(flags, 0, 4) & is_priority) == 0) {
    return context.described();
  }
  emit_priority(context, number_at(raw, 0, 2), spec::Style::hex);
  return true;
}

namespace {

/// Shows a file descriptor of another process. `name_of` looks its name up; `process` names the argument that holds the
/// process.
bool show_descriptor_of(decode::CustomContext& context, std::string_view process,
                        names::DescriptorName (names::DescriptorNames::*name_of)(const names::Task&, std::int32_t,
                                                                                 std::int32_t)) {
  std::array<std::byte, 4> raw{};
  if (context.in_memory() && !context.copy(raw)) {
    return false;
  }
  const auto fd = static_cast<std::int32_t>(context.in_memory() ? number_at(raw, 0, 4) : context.value());
  context.described(static_cast<std::uint64_t>(std::int64_t{fd}));
  const auto owner = context.argument(process);
  if (owner && fd >= 0) {
    const auto name = (context.names().descriptors.*name_of)(context.task(), static_cast<std::int32_t>(*owner), fd);
    if (!name.text.empty()) {
      context.out().annotation(name.text, name.deleted ? "(deleted)" : "");
    }
  }
  return true;
}

}  // namespace

bool fd_behind(decode::CustomContext& context) {
  return show_descriptor_of(context, "pidfd", &names::DescriptorNames::descriptor_behind);
}

bool fd_of_first(decode::CustomContext& context) {
  return show_descriptor_of(context, "pid1", &names::DescriptorNames::descriptor_of);
}

bool fd_of_second(decode::CustomContext& context) {
  return show_descriptor_of(context, "pid2", &names::DescriptorNames::descriptor_of);
}

/// Shows the argument of PR_SET_PTRACER: a process, or PR_SET_PTRACER_ANY.
bool ptracer(decode::CustomContext& context) {
  constexpr std::int32_t anybody = -1;
  if (static_cast<std::int32_t>(context.value()) == anybody) {
    context.described(context.value());
  } else {
    context.number(context.value(), spec::Style::tgid, 4, true);
  }
  return true;
}

}  // namespace tracer::decoders
