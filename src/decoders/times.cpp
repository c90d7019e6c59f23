// Times with their date as a comment.
#include <algorithm>
#include <array>

#include "decoders/decoders.h"
#include "decoders/helpers.h"
#include "format/dates.h"

namespace tracer::decoders {
namespace {

constexpr std::uint64_t nanoseconds = 1'000'000'000;
constexpr std::uint64_t microseconds = 1'000'000;

/// Emits the date as a comment, unless the time is 0 or its fraction is out of range.
void comment_date(decode::CustomContext& context, std::int64_t seconds, std::uint64_t fraction,
                  std::uint64_t per_second) {
  if ((seconds == 0 && fraction == 0) || fraction >= per_second) {
    return;
  }
  TextBuffer text;
  if (format::append_date(text, seconds, fraction, per_second == nanoseconds ? 9 : 6)) {
    context.out().comment(text.view());
  }
}

/// The members of a timespec, timeval or the like.
struct Timestamp {
  std::int64_t seconds = 0;
  std::uint64_t fraction = 0;
};

std::optional<Timestamp> read_timestamp(const CustomContext& context) {
  std::array<std::byte, 16> raw{};
  const auto size = std::min<std::size_t>(context.size(), raw.size());
  if (!context.copy(std::span(raw).first(size))) {
    return std::nullopt;
  }
  // These structures have 64-bit seconds and a 32-bit fraction, with or without padding after it.
  constexpr std::array<std::string_view, 3> narrow = {"statx_timestamp", "ptp_clock_time", "btrfs_ioctl_timespec"};
  const bool is_narrow = std::find(narrow.begin(), narrow.end(), context.described_name()) != narrow.end();
  const auto width = is_narrow ? 8 : static_cast<unsigned>(size / 2);
  return Timestamp{static_cast<std::int64_t>(format::cut(number_at(raw, 0, width), width, true)),
                   number_at(raw, width, is_narrow ? 4 : width)};
}

}  // namespace

bool dated(decode::CustomContext& context) {
  const auto name = context.described_name();
  if (context.size() <= word_size(context.entry().abi) && name.find("time") == std::string_view::npos) {
    std::array<std::byte, 8> raw{};
    const auto size = std::min<std::size_t>(context.size(), raw.size());
    if (!context.in_memory() || !context.copy(std::span(raw).first(size)) || !context.described()) {
      return false;
    }
    const auto seconds = format::cut(number_at(raw, 0, 8), static_cast<unsigned>(size), true);
    comment_date(context, static_cast<std::int64_t>(seconds), 0, nanoseconds);
    return true;
  }
  const auto time = read_timestamp(context);
  if (!time || !context.described()) {
    return false;
  }
  const bool is_timeval = name.find("timeval") != std::string_view::npos;
  comment_date(context, time->seconds, time->fraction, is_timeval ? microseconds : nanoseconds);
  return true;
}

/// Shows a timespec of utimensat(2), where two values of tv_nsec have a special meaning.
bool utime_spec(decode::CustomContext& context) {
  constexpr std::uint64_t utime_now = 0x3fffffff;
  constexpr std::uint64_t utime_omit = 0x3ffffffe;
  const auto time = read_timestamp(context);
  if (!time) {
    return false;
  }
  if (time->fraction != utime_now && time->fraction != utime_omit) {
    return dated(context);
  }
  const std::string_view name = time->fraction == utime_now ? "UTIME_NOW" : "UTIME_OMIT";
  const auto form = context.out().constant_form();
  if (form == format::ConstantForm::abbreviate) {
    context.out().symbol(name);
    return true;
  }
  if (!context.described()) {
    return false;
  }
  if (form == format::ConstantForm::verbose) {
    context.out().comment(name);
  }
  return true;
}

/// Shows seconds with a date, whose fraction is the next field of the structure.
bool second_of_time(decode::CustomContext& context) {
  std::array<std::byte, 16> raw{};
  const auto width = static_cast<unsigned>(std::min<std::uint64_t>(context.size(), 8));
  if (!context.copy(std::span(raw).first(2 * std::size_t{width})) || !context.described()) {
    return false;
  }
  comment_date(context, static_cast<std::int64_t>(format::cut(number_at(raw, 0, width), width, true)),
               number_at(raw, width, width), nanoseconds);
  return true;
}

}  // namespace tracer::decoders
