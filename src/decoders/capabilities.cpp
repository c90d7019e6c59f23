// capget(2), capset(2): three sets of capabilities of 32 or 64 bits.
#include <array>

#include "decoders/decoders.h"
#include "decoders/helpers.h"

namespace tracer::decoders {
namespace {

constexpr std::uint64_t version_2 = 0x20071026;
constexpr std::uint64_t version_3 = 0x20080522;

/// Appends the capabilities of a word by their names, `first` being the number of the lowest one. Bits without a name
/// show as their number, alone with a comment.
void append_names(decode::CustomContext& context, TextBuffer& text, std::uint32_t word, unsigned first) {
  std::uint32_t unnamed = 0;
  std::string_view separator;
  for (unsigned bit = 0; bit < 32; ++bit) {
    if ((word >> bit & 1) == 0) {
      continue;
    }
    const auto name = context.constant_name("cap_number", first + bit);
    if (name.empty()) {
      unnamed |= std::uint32_t{1} << bit;
      continue;
    }
    text.append(separator);
    text.append("1<<");
    text.append(name);
    separator = "|";
  }
  if (unnamed != 0) {
    text.append(separator);
    text.hex(std::uint64_t{unnamed});
    text.append(separator.empty() ? " /* CAP_??? */" : "");
  }
}

/// Appends a set. Each of its words stands for itself.
void append_set(decode::CustomContext& context, TextBuffer& text, std::uint64_t set) {
  const auto form = context.out().constant_form();
  const auto low = static_cast<std::uint32_t>(set);
  TextBuffer names;
  for (const unsigned first : {0U, 32U}) {
    const auto word = static_cast<std::uint32_t>(set >> first);
    if (word == 0) {
      continue;
    }
    text.append(first != 0 && low != 0 ? "|" : "");
    names.clear();
    append_names(context, names, word, first);
    const bool has_name = names.view().starts_with("1<<");
    if (form == format::ConstantForm::abbreviate || (form == format::ConstantForm::verbose && !has_name)) {
      text.append(names.view());
      continue;
    }
    text.hex(std::uint64_t{word});
    if (form == format::ConstantForm::verbose) {
      text.append(" /* ");
      text.append(names.view());
      text.append(" */");
    }
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
    if (set == 0) {
      out.symbol("0");
    } else if (out.constant_form() == format::ConstantForm::abbreviate) {
      context.named(text.view(), set);
    } else {
      out.symbol(text.view());
    }
  }
  out.end_struct();
  return true;
}

}  // namespace tracer::decoders
