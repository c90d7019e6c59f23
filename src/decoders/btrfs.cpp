// Requests of the file system btrfs. linux/btrfs.h.
#include <algorithm>
#include <array>
#include <vector>

#include "decoders/decoders.h"
#include "decoders/helpers.h"

namespace tracer::decoders {

/// Shows a device's error counts: `[[BTRFS_DEV_STAT_WRITE_ERRS]=0, …]`, in a field without a name.
bool btrfs_dev_stats(decode::CustomContext& context) {
  constexpr std::size_t kinds = 5;
  constexpr std::size_t max_counts = 256;
  constexpr unsigned width = 8;
  auto& out = context.out();
  out.begin_bare_field("values", "btrfs_dev_stats");
  std::vector<std::byte> raw(std::min<std::uint64_t>(context.size() / width, max_counts) * width);
  const auto readable = context.memory().read(context.address(), raw) / width;
  const std::size_t limit =
      std::min<std::size_t>(kinds, context.depth().abbreviate ? context.options().string_limit : kinds);
  TextBuffer index;
  out.begin_array();
  for (std::size_t i = 0; readable != 0 && i < raw.size() / width; ++i) {
    if (i >= limit) {
      out.more();
      break;
    }
    if (i == readable) {
      context.unreadable_rest(context.address() + i * width);
      break;
    }
    index.clear();
    context.append_constant(index, "btrfs_dev_stat", i, out.constant_form());
    out.begin_element(index.view());
    context.number(number_at(raw, i * width, width), spec::Style::number, width, false);
  }
  out.end_array();
  return true;
}

/// Shows the texts whose offsets stand there, and before them how many: `["a", "b"]`.
bool btrfs_paths(decode::CustomContext& context) {
  constexpr unsigned width = 8;
  constexpr std::uint64_t count_before = 8;  // bytes from the number to the offsets
  std::array<std::byte, 4> count{};
  std::byte first{};
  if (context.memory().read(context.address() + -count_before, count) != count.size() ||
      context.memory().read(context.address(), std::span(&first, 1)) != 1) {
    return false;
  }
  auto& out = context.out();
  const std::uint64_t number = number_at(count, 0, count.size());
  out.begin_array();
  for (std::uint64_t i = 0; i < number; ++i) {
    std::array<std::byte, width> offset{};
    const RemoteAddr place = context.address() + i * width;
    if (!context.spend()) {
      out.more();
      break;
    }
    if (context.memory().read(place, offset) != offset.size()) {
      context.unreadable_rest(place);
      break;
    }
    out.begin_element();
    const RemoteAddr text = context.address() + number_at(offset, 0, width);
    if (!context.described_at(text)) {
      out.address(text);
    }
  }
  out.end_array();
  return true;
}

}  // namespace tracer::decoders
