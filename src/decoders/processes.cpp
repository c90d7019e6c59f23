// Wait statuses, CPU sets, I/O priorities, and file descriptors of other processes.
#include <algorithm>
#include <array>
#include <vector>

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

namespace {

/// Shows as many bytes as a member of the call's keyctl_pkey_params says.
bool pkey_bytes(decode::CustomContext& context, std::size_t member) {
  constexpr std::uint64_t max_size = 64 * 1024;
  constexpr std::size_t all = 40;  // bytes of the structure, of which none counts unless all are there
  std::array<std::byte, all> raw{};
  const RemoteAddr params(context.argument("params").value_or(0));
  if (context.memory().read(params, raw) != raw.size()) {
    return false;
  }
  const auto length = number_at(raw, member, 4);
  const std::uint64_t limit = std::min<std::uint64_t>(context.options().string_limit, max_size);
  // One byte more than is shown has to be there, if there are more.
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(length, limit + 1)));
  if (context.memory().read(context.address(), bytes) != bytes.size()) {
    return false;
  }
  const auto shown = std::span(bytes).first(static_cast<std::size_t>(std::min(length, limit)));
  render::StringForm form;
  form.cut = shown.size() < length;
  context.out().bytes(shown, form);
  return true;
}

}  // namespace

/// Shows what a key is to encrypt, decrypt or sign.
bool pkey_in(decode::CustomContext& context) {
  constexpr std::size_t in_len = 4;
  return pkey_bytes(context, in_len);
}

/// Shows what came out, or the signature to verify.
bool pkey_out(decode::CustomContext& context) {
  constexpr std::size_t out_len = 8;
  return pkey_bytes(context, out_len);
}

/// Shows what is there as its type says.
bool as_it_is(decode::CustomContext& context) {
  return context.described();
}

/// Shows which module's context is asked for, `{id=LSM_ID_SMACK}`, and after the call those that there are.
bool lsm_contexts(decode::CustomContext& context) {
  constexpr std::uint64_t head_size = 32;
  if (context.outcome() != nullptr) {
    return context.size() >= head_size && context.described();
  }
  std::array<std::byte, head_size> id{};
  if (context.memory().read(context.address(), id) != id.size()) {
    return false;
  }
  context.out().begin_struct();
  context.out().begin_field("id", "lsm_owner");
  context.constant("lsm_owner", number_at(id, 0, 8), 8);
  context.out().end_struct();
  return true;
}

}  // namespace tracer::decoders
