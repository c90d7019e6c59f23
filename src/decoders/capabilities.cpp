// capget(2), capset(2): three sets of capabilities of 32 or 64 bits.
#include <array>

#include "decoders/decoders.h"
#include "decoders/helpers.h"

namespace tracer::decoders {
namespace {

constexpr std::uint64_t version_2 = 0x20071026;
constexpr std::uint64_t version_3 = 0x20080522;

void append_set(decode::CustomContext& context, TextBuffer& text, std::uint64_t set) {
  bool first = true;
  const auto separate = [&] {
    text.append(first ? "" : "|");
    first = false;
  };
  // Each word is a set of its own: bits without a name show as its number, alone with a comment.
  for (unsigned start = 0; start < 64; start += 32) {
    std::uint64_t unnamed = 0;
    bool has_name = false;
    for (unsigned bit = 0; bit < 32; ++bit) {
      if ((set >> (start + bit) & 1) == 0) {
        continue;
      }
      const auto name = context.constant_name("cap_number", start + bit);
      if (name.empty()) {
        unnamed |= std::uint64_t{1} << bit;
        continue;
      }
      separate();
      text.append("1<<");
      text.append(name);
      has_name = true;
    }
    if (unnamed != 0) {
      separate();
      text.hex(unnamed);
      text.append(has_name ? "" : " /* CAP_??? */");
    }
  }
  if (first) {
    text.append('0');
  }
}

}  // namespace

bool capabilities(decode::CustomContext& context) {
  static constexpr std::array<std::string_view, 3> names = {"effective", "permitted", "inheritable"};
  std::array<std::byte, 8> version{};
  const RemoteAddr header(context.argument("hdrp").value_or(0));
  const bool known = context.memory().read(header, version) == version.size();
  const auto number = number_at(version, 0, 4);
  const bool is_64_bit = known && (number == version_2 || number == version_3);
  if (!known) {
    return false;
  }
  std::array<std::byte, 24> raw{};
  const auto bytes = std::span(raw).first(is_64_bit ? 24 : 12);
  if (!context.copy(bytes)) {
    return false;
  }
  auto& out = context.out();
  TextBuffer text;
  out.begin_struct();
  for (std::size_t i = 0; i < names.size(); ++i) {
    text.clear();
    const auto set = number_at(raw, 4 * i, 4) | number_at(bytes, 12 + 4 * i, 4) << 32;
    append_set(context, text, set);
    out.begin_field(names[i], "u64");
    set == 0 ? out.symbol(text.view()) : context.named(text.view(), set);
  }
  out.end_struct();
  return true;
}

}  // namespace tracer::decoders
