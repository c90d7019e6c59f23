#include <algorithm>

#include "spec/spec.h"

namespace tracer::spec {

const Call* Tables::find(Abi abi, std::uint64_t number) const {
  const auto rows = numbers[index_of(abi)];
  // Numbers are nearly dense from 0, so the row is usually at its own index or a little before.
  const auto row = std::lower_bound(rows.begin(), rows.end(), number,
                                    [](const NumberedCall& r, std::uint64_t n) { return r.number < n; });
  if (row == rows.end() || row->number != number || row->call == none) {
    return nullptr;
  }
  return &calls[row->call];
}

}  // namespace tracer::spec
