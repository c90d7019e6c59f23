// Signal sets, and the signal mask in a signal frame.
#include <array>

#include "decoders/decoders.h"
#include "decoders/helpers.h"
#include "format/signal_sets.h"

namespace tracer::decoders {
namespace {

/// The offsets of the signal mask in the signal frame, to which the stack pointer points at sigreturn.
struct FrameLayout {
  std::uint64_t low = 0;
  unsigned low_width = 8;
  std::uint64_t high = 0;  ///< offset of the second 32-bit word; 0: there is none
};

/// Returns the layout of the kernel's struct rt_sigframe or, for the old sigreturn, of struct sigframe.
FrameLayout frame_layout(Abi abi, bool is_rt) {
  switch (abi) {
    case Abi::x86_64:
    case Abi::x32:
      return {.low = 296};  // ucontext: flags, link, stack, then 256 bytes of registers
    case Abi::i386:
      return is_rt ? FrameLayout{.low = 248} : FrameLayout{.low = 80, .low_width = 4, .high = 712};
    case Abi::aarch64:
      return {.low = 168};  // after a siginfo: flags, link, stack
    case Abi::arm:
      return is_rt ? FrameLayout{.low = 232} : FrameLayout{.low = 104};
  }
  return {};
}

}  // namespace

bool sigset(decode::CustomContext& context) {
  TextBuffer text;
  if (!context.in_memory()) {
    format::append_signal_set(text, context.value(), 8 * word_size(context.entry().abi), context.out().constant_form());
    context.out().symbol(text.view());
    return true;
  }
  std::array<std::byte, 8> raw{};
  const auto size = std::min<std::size_t>(context.size() == 0 ? raw.size() : context.size(), raw.size());
  if (!context.copy(std::span(raw).first(size))) {
    return false;
  }
  const std::size_t word = word_size(context.entry().abi);
  const auto bits = static_cast<unsigned>(8 * ((size + word - 1) / word * word));  // a set is made of longs
  format::append_signal_set(text, number_at(raw, 0, 8), bits, context.out().constant_form());
  context.out().symbol(text.view());
  return true;
}

bool sigreturn(decode::CustomContext& context) {
  const auto& entry = context.entry();
  const auto name = context.call_name();
  const bool is_rt = name.substr(0, 3) == "rt_";
  const auto layout = frame_layout(entry.abi, is_rt);
  const RemoteAddr frame(entry.stack_pointer);
  std::array<std::byte, 8> raw{};
  const auto low = std::span(raw).first(layout.low_width);
  const auto high = std::span(raw).subspan(4);
  const bool readable = context.memory().read(frame + layout.low, low) == low.size() &&
                        (layout.high == 0 || context.memory().read(frame + layout.high, high) == high.size());
  // In the old frame the mask is not part of a structure that could show as an address.
  if (entry.stack_pointer == 0 || !readable || (!context.depth().dereference && !is_rt)) {
    context.out().address(frame);
    return true;
  }
  TextBuffer text;
  format::append_signal_set(text, number_at(raw, 0, 8), 64, context.out().constant_form());
  context.out().begin_struct();
  context.out().begin_field("mask", "sigset");
  context.depth().dereference ? context.out().symbol(text.view()) : context.out().address(frame + layout.low);
  context.out().end_struct();
  return true;
}

bool interrupted_call(decode::CustomContext& context) {
  TextBuffer text;
  text.append("<... resuming interrupted ");
  text.append(context.previous_call());
  text.append(" ...>");
  context.out().symbol(text.view());
  return true;
}

}  // namespace tracer::decoders
