#include "replay/ranges.h"

#include <algorithm>

namespace tracer::replay {

void Ranges::clear() {
  ranges_.clear();
  bytes_.clear();
  last_ = {};
  read_last_ = 0;
}

bool Ranges::find(std::uint64_t address, std::span<std::byte> into) {
  for (Range& range : ranges_) {
    const std::uint64_t start = address - range.address;
    if (address >= range.address && start < range.size && into.size() <= range.size - start) {
      const auto from = static_cast<std::size_t>(start);
      std::copy_n(start_of(range) + from, into.size(), into.begin());
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
  // What goes on from within the last range makes it longer: the head of a structure is often read before all of it.
  Range* end = ranges_.empty() ? nullptr : &ranges_.back();
  if (end == nullptr || end->outside != nullptr || end->kept != end->size || address < end->address ||
      address - end->address > end->size || bytes.size() <= end->size - (address - end->address)) {
    end = &ranges_.emplace_back(Range{address, bytes_.size(), nullptr, 0, 0});
  }
  const auto start = static_cast<std::size_t>(address - end->address);
  last_ = {ranges_.size() - 1, start, end->kept};
  bytes_.resize(end->offset + start);
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  end->size = start + bytes.size();
  end->kept = end->size;
}

void Ranges::add_view(std::uint64_t address, std::span<const std::byte> bytes) {
  ranges_.push_back({address, 0, bytes.data(), bytes.size(), bytes.size()});
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
    std::uint64_t most = 0;
    // Reads go on where the last one was, or in the range after it.
    for (std::size_t near = read_last_; near < ranges_.size() && near <= read_last_ + 1 && most == 0; ++near) {
      if (kept_from(ranges_[near], wanted) >= into.size() - done) {
        most = into.size() - done;
        read_last_ = near;
      }
    }
    for (std::size_t i = 0; i < ranges_.size() && most < into.size() - done; ++i) {
      if (const std::uint64_t kept = kept_from(ranges_[i], wanted); kept > most) {
        most = kept;
        read_last_ = i;
      }
    }
    if (most == 0) {
      break;
    }
    const Range& best = ranges_[read_last_];
    const std::size_t part = std::min<std::size_t>(into.size() - done, most);
    std::copy_n(start_of(best) + (wanted - best.address), part, into.begin() + static_cast<std::ptrdiff_t>(done));
    done += part;
  }
  return done;
}

}  // namespace tracer::replay
