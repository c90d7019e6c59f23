#include "render/latencies.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/require.h"

namespace tracer::render {
namespace {

constexpr std::size_t powers = 64;
constexpr std::size_t bar_width = 40;

/// Appends 2^power nanoseconds in units of 1024: `512 ns`, `4 us`.
void append_power(TextBuffer& text, std::size_t power) {
  constexpr std::array<std::string_view, 7> units = {" ns", " us", " ms", " s ", " Ks", " Ms", " Gs"};
  const std::string number = std::to_string(std::uint64_t{1} << (power % 10));
  text.append(number.size() < 4 ? 4 - number.size() : 0, ' ');
  text.append(number);
  text.append(units[power / 10]);
}

std::size_t power_of(unsigned long long time) {
  std::size_t power = 0;
  while (power + 1 < powers && time >> (power + 1) != 0) {
    ++power;
  }
  return power;
}

}  // namespace

void Latencies::add(std::chrono::nanoseconds time) {
  by_bucket_.resize(latency_buckets);
  ++by_bucket_[latency_bucket_of(static_cast<unsigned long long>(std::max(time.count(), std::int64_t{0})))];
}

void Latencies::add_all(std::span<const std::uint64_t> by_bucket) {
  if (by_bucket.empty()) {
    return;
  }
  require(by_bucket.size() == latency_buckets, "a number for each class of latencies");
  by_bucket_.resize(latency_buckets);
  for (std::size_t i = 0; i < latency_buckets; ++i) {
    by_bucket_[i] += by_bucket[i];
  }
}

std::chrono::nanoseconds Latencies::percentile(unsigned percent) const {
  std::uint64_t calls = 0;
  for (const std::uint64_t count : by_bucket_) {
    calls += count;
  }
  const std::uint64_t wanted = (calls / 100 * percent) + (calls % 100 * percent + 99) / 100;
  std::uint64_t seen = 0;
  for (unsigned i = 0; i < by_bucket_.size(); ++i) {
    seen += by_bucket_[i];
    if (by_bucket_[i] != 0 && seen >= wanted) {
      return std::chrono::nanoseconds(latency_bucket_start(i + 1) - 1);
    }
  }
  return {};
}

void Latencies::write(TextBuffer& text) const {
  std::array<std::uint64_t, powers> by_power{};
  for (unsigned i = 0; i < by_bucket_.size(); ++i) {
    if (by_bucket_[i] != 0) {
      by_power[power_of(latency_bucket_start(i))] += by_bucket_[i];
    }
  }
  const auto used = [](std::uint64_t count) { return count != 0; };
  const auto first = std::find_if(by_power.begin(), by_power.end(), used);
  const auto last = std::find_if(by_power.rbegin(), by_power.rend(), used).base();
  const std::uint64_t most = *std::max_element(by_power.begin(), by_power.end());
  for (auto count = first; count < last; ++count) {
    const auto power = static_cast<std::size_t>(count - by_power.begin());
    text.append("  ");
    append_power(text, power);
    text.append(" ..");
    append_power(text, power + 1);
    const std::string number = std::to_string(*count);
    text.append(number.size() < 12 ? 12 - number.size() : 1, ' ');
    text.append(number);
    text.append(" |");
    const auto bar = static_cast<std::size_t>(static_cast<double>(*count) / static_cast<double>(most) * bar_width);
    text.append(bar, '*');
    text.append(bar_width - bar, ' ');
    text.append("|\n");
  }
}

}  // namespace tracer::render
