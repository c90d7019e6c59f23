// The call frame information of one object. Caches the unwind row of each address that libdw computes.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "debuginfo/elf_handle.h"
#include "stack/unwind_row.h"

namespace tracer::stack {

class CallFrames {
 public:
  /// `elf` must outlive this.
  explicit CallFrames(Elf* elf) : cfi_(::dwarf_getcfi_elf(elf)) {}

  /// Returns the row for an address in the object file. It is valid until the next call.
  const Row& at(std::uint64_t address);

 private:
  static constexpr std::size_t max_rows = 1 << 16;

  [[nodiscard]] Row make(std::uint64_t address) const;

  debuginfo::CfiHandle cfi_;
  std::unordered_map<std::uint64_t, Row> rows_;
};

}  // namespace tracer::stack
