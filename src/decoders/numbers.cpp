// Numbers that consist of several parts.
#include <algorithm>
#include <array>
#include <limits>

#include "decoders/decoders.h"
#include "decoders/helpers.h"
#include "format/error_names.h"

namespace tracer::decoders {
namespace {

/// Returns the value from its register or from memory, in the width of the description.
std::optional<std::uint64_t> load(const CustomContext& context) {
  if (!context.in_memory()) {
    return context.value();
  }
  std::array<std::byte, 8> raw{};
  const auto size = std::min<std::size_t>(context.size(), raw.size());
  return context.copy(std::span(raw).first(size)) ? std::optional(number_at(raw, 0, 8)) : std::nullopt;
}

}  // namespace

/// Shows the opcode of an io_uring restriction. If it is unknown, shows the operand after it as a comment.
bool restriction(decode::CustomContext& context) {
  std::array<std::byte, 3> raw{};
  if (!context.copy(std::span(raw).first(2)) || !context.described()) {
    return false;
  }
  if (context.constant_name(context.described_name(), number_at(raw, 0, 2)).empty() &&
      context.memory().read(context.address(), raw) == raw.size()) {
    TextBuffer text;
    text.append("op: ");
    text.hex(number_at(raw, 2, 1));
    context.out().comment(text.view());
  }
  return true;
}

/// Shows a 64-bit argument that is split over this register (high 32 bits) and the next one (low 32 bits).
bool high_low(decode::CustomContext& context) {
  const auto bits = (context.next_register() & 0xffffffff) | context.value() << 32;
  context.number(bits, spec::Style::number, 8, true);
  return true;
}

/// Shows the result of shmat through ipc(2), which the kernel stores where the third argument points.
bool shmat_result(decode::CustomContext& context) {
  std::array<std::byte, 4> raw{};
  if (context.memory().read(RemoteAddr(context.argument("raddr").value_or(0)), raw) != raw.size()) {
    context.out().symbol("?");
    return true;
  }
  context.number(number_at(raw, 0, 4), spec::Style::hex, 4, false);
  return true;
}

/// Shows the last argument of semctl through ipc(2), which points to a union: what its member points to, or if that is
/// not all there the member itself, `[0x7f00]`.
bool semctl_set(decode::CustomContext& context) {
  constexpr std::size_t size_of_semid_ds = 64;
  std::array<std::byte, 4> raw{};
  if (!context.copy(raw)) {
    return false;
  }
  const RemoteAddr member(number_at(raw, 0, 4));
  std::array<std::byte, size_of_semid_ds> target{};
  if (context.depth().dereference && context.memory().read(member, target) == target.size()) {
    return context.described();
  }
  context.out().begin_array();
  context.out().begin_element();
  context.out().address(member);
  context.out().end_array();
  return true;
}

/// Shows the bytes of struct file_handle, whose number stands two words before them, or `???` if they cannot be read.
bool handle_bytes(decode::CustomContext& context) {
  constexpr std::uint64_t before_bytes = 8;
  constexpr std::size_t most = 128;  // MAX_HANDLE_SZ of linux/exportfs.h
  std::array<std::byte, 4> number{};
  std::array<std::byte, most> raw{};
  static_cast<void>(context.memory().read(context.address() + -before_bytes, number));
  const auto length = number_at(number, 0, 4);
  const auto bytes = std::span(raw).first(std::min<std::size_t>(length, most));
  if (!context.copy(bytes)) {
    context.out().symbol("???");
    return true;
  }
  render::StringForm form;
  form.hex = true;
  form.cut = length > most;
  context.out().bytes(bytes, form);
  return true;
}

/// Shows the length of ioctl SIOCGIFCONF: `80 /* 2 * sizeof(struct ifreq) */`.
bool ifreq_count(decode::CustomContext& context) {
  const auto bits = load(context);
  if (!bits) {
    return false;
  }
  const std::int64_t size = word_size(context.entry().abi) == 8 ? 40 : 32;  // netdevice(7)
  const auto length = static_cast<std::int32_t>(*bits);
  context.number(format::cut(*bits, 4, true), spec::Style::number, 4, true);
  if (length > 0 && length % size == 0) {
    TextBuffer text;
    text.decimal(length / size);
    text.append(" * sizeof(struct ifreq)");
    context.out().comment(text.view());
  }
  return true;
}

}  // namespace tracer::decoders
