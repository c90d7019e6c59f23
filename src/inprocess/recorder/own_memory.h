// The memory of the process that the recorder runs in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "arch/call_registers.h"
#include "inprocess/layout.h"
#include "inprocess/recorder/own_calls.h"
#include "trace/memory.h"

namespace tracer::inprocess::recorder {

extern "C" std::uint64_t copy_bytes(std::byte* to, const void* from, std::uint64_t count);

inline const Commons& commons() {
  return *reinterpret_cast<const Commons*>(areas_address);
}

/// Nothing is read that might not be there: the kernel is asked first, by a call that fails in one of two ways.
class OwnMemory final : public trace::Memory {
 public:
  explicit OwnMemory(ThreadArea& thread) : thread_(thread) {}

  [[nodiscard]] std::size_t read(RemoteAddr address, std::span<std::byte> into) const override {
    std::size_t done = 0;
    while (done < into.size()) {
      const std::uint64_t here = address.value() + done;
      if (!is_readable(here & ~(page_size - 1))) {
        break;
      }
      const std::size_t part = std::min(into.size() - done, static_cast<std::size_t>(page_size - here % page_size));
      const std::uint64_t left = copy_bytes(into.data() + done, reinterpret_cast<const void*>(here), part);
      done += part - left;
      if (left != 0) {
        break;
      }
    }
    return done;
  }

 private:
  [[nodiscard]] bool is_readable(std::uint64_t page) const {
    if (page >= arch::address_end) {
      return false;
    }
    const std::uint32_t generation = __atomic_load_n(&commons().generation, __ATOMIC_ACQUIRE);
    const std::uint64_t known = remembered_page(page, generation);
    std::uint64_t& place = thread_.readable[(page / page_size) % std::size(thread_.readable)];
    if (generation != 0 && place == known) {
      return true;
    }
    // The end of the page, as the address 0 would ask for nothing.
    const std::uint64_t asked = page + page_size - sizeof(std::uint64_t);
    if (own_call(SYS_rt_sigprocmask, invalid_how, asked, nullptr, reinterpret_cast<void*>(sizeof(std::uint64_t)), 0) ==
        fault) {
      return false;
    }
    if (generation != 0) {
      place = known;
    }
    return true;
  }

  ThreadArea& thread_;
};

}  // namespace tracer::inprocess::recorder
