#include "format/dates.h"

#include <array>
#include <ctime>

namespace tracer::format {

bool append_date(TextBuffer& text, std::int64_t seconds, std::uint64_t fraction, unsigned digits) {
  const auto when = static_cast<std::time_t>(seconds);
  std::tm parts{};
  std::array<char, 64> buffer{};
  if (localtime_r(&when, &parts) == nullptr || std::strftime(buffer.data(), buffer.size(), "%FT%T", &parts) == 0) {
    return false;
  }
  text.append(std::string_view(buffer.data()));
  if (fraction != 0) {
    text.append('.');
    text.decimal_padded(fraction, digits);
  }
  std::strftime(buffer.data(), buffer.size(), "%z", &parts);
  text.append(std::string_view(buffer.data()));
  return true;
}

}  // namespace tracer::format
