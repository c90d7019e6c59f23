// The call frame information of one object: a row for each place in its code, made by libdw and kept.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "debuginfo/elf_handle.h"
#include "stack/unwind_row.h"

namespace tracer::stack {

class CallFrames {
 public:
  /// `elf` outlives this.
  explicit CallFrames(Elf* elf) : cfi_(::dwarf_getcfi_elf(elf)) {}

  /// The row for an address as the object itself counts them. Valid until the next call.
  const Row& at(std::uint64_t address);

 private:
  static constexpr std::size_t most_rows = 1 << 16;

  [[nodiscard]] Row make(std::uint64_t address) const;

  debuginfo::CfiHandle cfi_;
  std::unordered_map<std::uint64_t, Row> rows_;
};

}  // namespace tracer::stack
