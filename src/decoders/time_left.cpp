#include "decoders/time_left.h"

#include <array>

#include "decoders/helpers.h"

namespace tracer::decoders {
namespace {

using spec::Style;

/// Returns the bytes of tv_sec and of the fraction in this call. Calls named …_time64 have 64 bits on every ABI.
unsigned time_width(const CustomContext& context) {
  return context.call_name().find("time64") != std::string_view::npos ? 8 : register_size(context.entry().abi);
}

}  // namespace

void emit_time_left(decode::CustomContext& context, std::uint64_t address, std::string_view fraction) {
  if (!context.depth().dereference) {
    context.out().address(RemoteAddr(address));
    return;
  }
  const unsigned width = time_width(context);
  std::array<std::byte, 16> raw{};
  const auto wanted = std::span(raw).first(2 * std::size_t{width});
  if (context.memory().read(RemoteAddr(address), wanted) != wanted.size()) {
    context.out().address(RemoteAddr(address));
    return;
  }
  auto& out = context.out();
  out.begin_struct();
  out.begin_field("tv_sec", "long");
  context.number(format::cut(number_at(raw, 0, width), width, true), Style::number, width, true);
  out.begin_field(fraction, "long");
  context.number(number_at(raw, width, width), Style::number, width, false);
  out.end_struct();
}

}  // namespace tracer::decoders
