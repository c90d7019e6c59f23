// What io_uring_enter submits.
#include <vector>

#include "decoders/decoders.h"

namespace tracer::decoders {

/// The entries that wait in the ring, as many as are submitted: `[{opcode=IORING_OP_NOP, ...}, ...]`; `???` if it
/// cannot be told where they are.
bool submissions(decode::CustomContext& context) {
  constexpr std::uint64_t registered_ring = 0x10;  // IORING_ENTER_REGISTERED_RING: the descriptor is none
  auto& out = context.out();
  const auto fd = static_cast<std::int32_t>(context.argument("fd").value_or(0));
  const std::uint64_t most = context.argument("to_submit").value_or(0) & 0xffffffff;
  const bool by_descriptor = (context.argument("flags").value_or(0) & registered_ring) == 0;
  const auto entries = by_descriptor ? context.names().ring_entries(context.entry().tid, fd, most) : std::nullopt;
  if (!entries) {
    out.symbol("???");
    return true;
  }
  // What the entries show may ask for names, too: theirs is used up before.
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
