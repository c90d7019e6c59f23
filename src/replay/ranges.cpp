#include "replay/ranges.h"

#include <algorithm>

namespace tracer::replay {

void Ranges::clear() {
  ranges_.clear();
  bytes_.clear();
  last_ = {};
}

bool Ranges::find(std::uint64_t address, std::span<std::byte> into) {
  for (Range& range : ranges_) {
    const std::uint64_t start = address - range.address;
    if (address >= range.address && start < range.size && into.size() <= range.size - start) {
      const auto from = static_cast<std::size_t>(start);
      std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(range.offset + from), into.size(), into.begin());
      last_ = {static_cast<std::size_t>(&range - ranges_.data()), from, range.kept};
      range.kept = std::max(range.kept, from + into.size());
      return true;
    }
  }
  return false;
}

void Ranges::add(std::uint64_t address, std::span<const std::byte> bytes) {
  if (bytes.empty()) {
    return;
  }
  Range* end = ranges_.empty() ? nullptr : &ranges_.back();
  if (end == nullptr || end->address + end->size != address || end->kept != end->size) {
    end = &ranges_.emplace_back(Range{address, bytes_.size(), 0, 0});
  }
  last_ = {ranges_.size() - 1, end->size, end->kept};
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  end->size += bytes.size();
  end->kept = end->size;
}

void Ranges::trim(std::size_t size) {
  if (last_.range < ranges_.size()) {
    Range& range = ranges_[last_.range];
    range.kept = std::max(last_.kept_before, std::min(range.size, last_.start + size));
  }
}

std::size_t Ranges::read(std::uint64_t address, std::span<std::byte> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const std::uint64_t wanted = address + done;
    const Range* best = nullptr;
    std::uint64_t most = 0;
    for (const Range& range : ranges_) {
      const std::uint64_t start = wanted - range.address;
      if (wanted >= range.address && start < range.kept && range.kept - start > most) {
        best = &range;
        most = range.kept - start;
      }
    }
    if (best == nullptr) {
      break;
    }
    const std::size_t part = std::min<std::size_t>(into.size() - done, most);
    const auto from = best->offset + static_cast<std::size_t>(wanted - best->address);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(from), part,
                into.begin() + static_cast<std::ptrdiff_t>(done));
    done += part;
  }
  return done;
}

}  // namespace tracer::replay
