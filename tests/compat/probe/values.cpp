#include "values.h"

#include <algorithm>

namespace tracer::probe {
namespace {

using spec::none;
using spec::Tables;

constexpr std::uint64_t every_bit = ~std::uint64_t{0};
constexpr std::size_t most_named = 64;  // of a set that another call has swept already

void add_set(std::vector<std::uint64_t>& values, const Tables& tables, Abi abi, const spec::ConstantSet& set,
             bool sweep) {
  std::size_t named = 0;
  for (const spec::ConstantGroup& group : Tables::slice(tables.groups, set.groups)) {
    for (const spec::Constant& constant : Tables::slice(tables.constants, group.constants)) {
      if ((constant.abis & mask_of(abi)) != 0 && (sweep || named++ < most_named)) {
        values.push_back(constant.value);
      }
    }
    if (group.mask != 0) {
      values.push_back(group.mask);
      values.push_back(group.mask & (group.mask >> 1));
    }
  }
  if (set.is_flags) {
    for (unsigned bit = 0; bit < 33; bit++) {
      values.push_back(std::uint64_t{1} << bit);
    }
    values.push_back(3);
    values.push_back(0xffff);
  } else if (sweep) {
    for (std::uint64_t value = 0; value < 256; value++) {
      values.push_back(value);
    }
  }
}

std::vector<std::uint64_t> pointer_values(const Leaf& leaf) {
  const std::uint64_t end = slot_address(0) + page_size;
  std::vector<std::uint64_t> values{0, 1, 0xffffffff, every_bit, 0x1000, end, end - 1, end - 4};
  if (leaf.target_size > 0 && leaf.target_size < page_size) {
    for (const std::uint64_t size : {leaf.target_size, leaf.target_size - 1, leaf.target_size / 2}) {
      values.push_back(end - size);
    }
  }
  return values;
}

}  // namespace

std::vector<std::uint64_t> interesting_values(const Tables& tables, Abi abi, const Leaf& leaf, bool sweep) {
  const spec::Type& type = tables.types[leaf.type];
  std::vector<std::uint64_t> values;
  if (type.kind == spec::TypeKind::pointer) {
    values = pointer_values(leaf);
  } else {
    values = {0, 1, 2, 5, 255, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, every_bit, 0xdeadbeefbadc0ded};
    if (type.set != none) {
      add_set(values, tables, abi, tables.sets[type.set], sweep);
    } else if (type.kind == spec::TypeKind::custom) {
      for (unsigned bit = 2; bit < 64; bit++) {
        values.push_back(std::uint64_t{1} << bit);
      }
    } else {
      values.insert(values.end(), {0xffffff9c, 017777, 0100644, 4096, 0x1234567, 0x123456789abcd});
    }
  }
  for (std::uint64_t& value : values) {
    if (leaf.place.width < 8) {
      value &= (std::uint64_t{1} << (8 * leaf.place.width)) - 1;
    }
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

}  // namespace tracer::probe
