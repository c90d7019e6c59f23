// The entries that io_uring_enter(2) submits.
#include <vector>

#include "decoders/decoders.h"

namespace tracer::decoders {

/// Shows the submission queue entries of the call: `[{opcode=IORING_OP_NOP, ...}, ...]`; `???` if their addresses are
/// unknown.
bool submissions(decode::CustomContext& context) {
  constexpr std::uint64_t registered_ring = 0x10;  // IORING_ENTER_REGISTERED_RING: fd is an index
  auto& out = context.out();
  const auto fd = static_cast<std::int32_t>(context.argument("fd").value_or(0));
  const std::uint64_t max_entries = context.argument("to_submit").value_or(0) & 0xffffffff;
  const bool by_descriptor = (context.argument("flags").value_or(0) & registered_ring) == 0;
  const auto entries =
      by_descriptor ? context.names().kernel.ring_entries(context.task(), fd, max_entries) : std::nullopt;
  if (!entries) {
    out.symbol("???");
    return true;
  }
  // Copied, because decoding an entry may look up further names, which invalidates `entries`.
  const std::vector<RemoteAddr> places(entries->begin(), entries->end());
  out.begin_array();
  for (const RemoteAddr place : places) {
    if (!context.spend()) {
      out.more();
      break;
    }
    out.begin_element();
    if (!context.described_at(place)) {
      out.address(place);
    }
  }
  out.end_array();
  return true;
}

}  // namespace tracer::decoders
