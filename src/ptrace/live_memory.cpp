#include "ptrace/live_memory.h"

#include <algorithm>
#include <cstring>

#include "ptrace/stopped_thread.h"

namespace tracer::ptrace {

std::size_t LiveMemory::read(RemoteAddr address, std::span<std::byte> into) const {
  // Big pieces gain nothing from the pages.
  if (into.size() > page_size) {
    return read_directly(address.value(), into);
  }
  std::size_t done = 0;
  while (done < into.size()) {
    const std::uint64_t here = address.value() + done;
    if (here < address.value()) {
      break;  // past the end of the address space
    }
    const std::uint64_t start = here & ~std::uint64_t{page_size - 1};
    const auto offset = static_cast<std::size_t>(here - start);
    const Page& page = page_at(start);
    if (offset >= page.valid) {
      break;
    }
    const std::size_t count = std::min(into.size() - done, page.valid - offset);
    std::memcpy(into.data() + done, page.bytes.data() + offset, count);
    done += count;
    if (offset + count < page_size) {
      break;
    }
  }
  return done;
}

const LiveMemory::Page& LiveMemory::page_at(std::uint64_t address) const {
  for (std::size_t i = 0; i < used_; ++i) {
    if (pages_[i].address == address) {
      return pages_[i];
    }
  }
  std::size_t slot = used_;
  if (used_ == slots) {
    slot = next_victim_++ % slots;
  } else if (pages_.size() == used_++) {
    pages_.emplace_back();
  }
  Page& page = pages_[slot];
  page.address = address;
  page.valid = read_directly(address, page.bytes);
  return page;
}

std::size_t LiveMemory::read_directly(std::uint64_t address, std::span<std::byte> into) const {
  if (hangs_) {
    return 0;
  }
  if (!refused_) {
    const bool apart = process_ != nullptr && process_->is_needed();
    auto count = apart ? process_->read(tid_, address, into) : read_remote(tid_, address, into);
    hangs_ = count == MemoryProcess::hangs;
    if (apart && !count) {
      process_ = nullptr;  // it cannot start, or Yama lets only the tracer itself read
      count = read_remote(tid_, address, into);
    }
    if (count) {
      return hangs_ ? 0 : *count;
    }
    refused_ = true;
  }
  return read_by_words(address, into);
}

std::size_t LiveMemory::read_by_words(std::uint64_t address, std::span<std::byte> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const std::uint64_t here = address + done;
    const std::uint64_t aligned = here & ~std::uint64_t{sizeof(long) - 1};
    const auto word = peek_word(tid_, RemoteAddr(aligned));
    if (!word) {
      break;
    }
    const auto offset = static_cast<std::size_t>(here - aligned);
    const std::size_t count = std::min(sizeof *word - offset, into.size() - done);
    std::memcpy(into.data() + done, reinterpret_cast<const std::byte*>(&*word) + offset, count);
    done += count;
  }
  return done;
}

}  // namespace tracer::ptrace
