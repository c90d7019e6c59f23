// Parts of netlink messages.
#include <algorithm>
#include <array>
#include <vector>

#include "decoders/decoders.h"
#include "decoders/read.h"
#include "render/error_names.h"

namespace tracer::decoders {

/// Text whose size counts a NUL at its end, as libnl's NLA_STRING has it: `"lo"`; without one it goes on: `"lo"...`.
bool terminated_text(CustomContext& context) {
  constexpr std::size_t most = 64 * 1024;
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(context.size(), most));
  const auto limit = std::min<std::size_t>(size, context.options().string_limit);
  std::vector<std::byte> text(std::min<std::size_t>(size, limit + 1));
  std::byte last{1};
  if (size == 0 || !context.copy(text) || context.memory().read(context.address() + (size - 1), {&last, 1}) != 1) {
    return false;
  }
  const bool ends = last == std::byte{0};
  const auto length = size - (ends ? 1 : 0);
  render::StringForm form;
  form.cut = !ends || length > limit;
  context.out().bytes(std::span(text).first(std::min(length, limit)), form);
  return true;
}

/// Text up to its first NUL, in a size that the NUL may be beyond: `"lo"...`.
bool text_to_nul(CustomContext& context) {
  constexpr std::size_t most = 64 * 1024;
  std::vector<std::byte> text(static_cast<std::size_t>(std::min<std::uint64_t>(context.size(), most)));
  if (text.empty() || !context.copy(text)) {
    return false;
  }
  const auto length = static_cast<std::size_t>(std::find(text.begin(), text.end(), std::byte{0}) - text.begin());
  const auto limit = std::size_t{context.options().string_limit};
  render::StringForm form;
  form.cut = length == text.size() || length > limit;
  context.out().bytes(std::span(text).first(std::min(length, limit)), form);
  return true;
}

/// `-ENOENT`: an error as the kernel hands it on.
bool negative_errno(CustomContext& context) {
  std::array<std::byte, 4> raw{};
  if (!context.copy(raw)) {
    return false;
  }
  const auto value = static_cast<std::int32_t>(number_at(raw, 0, raw.size()));
  const auto name = value < 0 && value > -4096 ? render::error_name(-value) : std::string_view{};
  if (name.empty()) {
    context.number(static_cast<std::uint64_t>(std::int64_t{value}), spec::Style::number, 4, true);
    return true;
  }
  TextBuffer text;
  text.append('-');
  text.append(name);
  context.out().named(text.view(), static_cast<std::uint64_t>(std::int64_t{value}), spec::Style::number);
  return true;
}

}  // namespace tracer::decoders
