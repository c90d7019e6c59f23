#include "pipeline/exports/call_columns.h"

#include <algorithm>

namespace tracer::pipeline::exports {

namespace {

constexpr std::size_t most_argument_bytes = std::size_t{256} << 20;

}  // namespace

std::uint32_t TextTable::add(std::string_view text) {
  if (const auto known = numbers_.find(text); known != numbers_.end()) {
    return known->second;
  }
  if (texts_.size() >= most_ || bytes_ + text.size() > most_bytes_) {
    full_ = true;
    return 0;
  }
  const auto number = static_cast<std::uint32_t>(texts_.size());
  texts_.emplace_back(numbers_.emplace(text, number).first->first);
  bytes_ += text.size();
  return number;
}

void TextTable::clear() {
  numbers_.clear();
  texts_.clear();
  bytes_ = 0;
  texts_.emplace_back(numbers_.emplace("", 0).first->first);
}

CallColumns::CallColumns(std::size_t most) : most_(most), arguments_(most + 1, most_argument_bytes) {}

void CallColumns::add(CallRow row, std::string_view arguments) {
  ++total_;
  if (row.duration < least(row)) {
    return;
  }
  if (rows_.size() == most_) {
    thin_out();
    if (row.duration < least(row)) {
      return;
    }
  }
  row.arguments = arguments_.add(arguments);
  rows_.push_back(row);
}

/// Keeps half of the rows: of the failed and of the other calls the slowest.
void CallColumns::thin_out() {
  const auto others = std::partition(rows_.begin(), rows_.end(), [](const CallRow& row) { return row.error != 0; });
  const auto slower = [](const CallRow& a, const CallRow& b) { return a.duration > b.duration; };
  const auto thin = [&](auto begin, auto end, std::size_t most, std::int64_t& least) {
    if (static_cast<std::size_t>(end - begin) <= most) {
      return end;
    }
    const auto last = begin + static_cast<std::ptrdiff_t>(most);
    std::nth_element(begin, last, end, slower);
    least = last->duration + 1;
    return last;
  };
  const auto end_of_others = thin(others, rows_.end(), most_ / 4, least_other_);
  const auto end_of_failed = thin(rows_.begin(), others, most_ / 4, least_failed_);
  const auto end = std::move(others, end_of_others, end_of_failed);
  rows_.erase(end, rows_.end());
  TextTable kept(most_ + 1, most_argument_bytes);
  for (CallRow& row : rows_) {
    row.arguments = kept.add(arguments_.texts()[row.arguments]);
  }
  arguments_ = std::move(kept);
}

void CallColumns::sort() {
  std::stable_sort(rows_.begin(), rows_.end(), [](const CallRow& a, const CallRow& b) { return a.start < b.start; });
}

void append_varint(std::string& bytes, std::uint64_t number) {
  constexpr std::uint64_t more = 0x80;
  for (; number >= more; number >>= 7) {
    bytes.push_back(static_cast<char>(number | more));
  }
  bytes.push_back(static_cast<char>(number));
}

}  // namespace tracer::pipeline::exports
