#include <fmt/core.h>

#include "sysc/lowering.h"

namespace tracer::sysc {

using spec::none;

namespace {

constexpr std::uint32_t size_of_number(std::int64_t number) {
  return static_cast<std::uint32_t>(number >> 16) & 0x3fff;
}

/// `_IOWR(0x44, TYPE)`: what says the same as the number, if its size is that of a type.
std::string encoded(std::int64_t number) {
  constexpr const char* macros[] = {"_IO", "_IOW", "_IOR", "_IOWR"};
  const auto macro = macros[number >> 30 & 3];
  const auto row = number & 0xff;
  return row < 10 ? fmt::format("{}({}, TYPE)", macro, row) : fmt::format("{}({:#x}, TYPE)", macro, row);
}

}  // namespace

/// Warns of numbers of ioctls that are written out although the size of their argument says them, or does not.
void Lowering::warn_of_numbers() {
  for (const auto* block : symbols_.ioctls) {
    for (const auto& row : block->rows) {
      if (row.encoding == ast::IoctlRow::Encoding::plain) {
        warn_of_number(*block, row);
      }
    }
  }
}

void Lowering::warn_of_number(const ast::Ioctls& block, const ast::IoctlRow& row) {
  const auto& numbers = ioctl_numbers_.at(&row);
  std::int64_t first = 0;
  for (const auto& number : numbers) {
    first = first == 0 && number ? *number : first;
  }
  const auto known = ioctl_signatures_.find(&row);
  if (size_of_number(first) == 0 || (first >> 8 & 0xff) != block.type || known == ioctl_signatures_.end()) {
    return;
  }
  const auto params = set_.signatures[known->second].params;
  const auto type = params.count == 0 ? none : set_.params[params.first + params.count - 1].type;
  if (type == none) {
    return;
  }
  const bool points = set_.types[type].kind == spec::TypeKind::pointer;
  const auto layout = layout_in_number(points ? set_.types[type].target : type, row.name.at);
  for (std::size_t i = 0; i < abi_count; ++i) {
    if (numbers[i] && size_of_number(*numbers[i]) != layout.size[i]) {
      diagnostics_.warning(row.name.at,
                           fmt::format("found {:#x}, of {} bytes on {}, expected the {} of the argument", *numbers[i],
                                       size_of_number(*numbers[i]), abi_names[i], layout.size[i]));
      return;
    }
  }
  diagnostics_.warning(row.name.at, fmt::format("found {:#x}, expected {}", first, encoded(first)));
}

}  // namespace tracer::sysc
