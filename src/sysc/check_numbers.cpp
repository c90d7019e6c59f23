#include "sysc/check_numbers.h"

#include <fmt/core.h>

#include <algorithm>

namespace tracer::sysc {

using spec::none;

namespace {

constexpr std::uint32_t size_of_number(std::int64_t number) {
  return static_cast<std::uint32_t>(number >> 16) & 0x3fff;
}

/// Returns `_IOWR(0x44, TYPE)`, which is equal to the number if TYPE has the number's size.
std::string encoded(std::int64_t number, std::string_view type) {
  constexpr const char* macros[] = {"_IO", "_IOW", "_IOR", "_IOWR"};
  const auto macro = macros[number >> 30 & 3];
  const auto row = number & 0xff;
  return row < 10 ? fmt::format("{}({}, {})", macro, row, type) : fmt::format("{}({:#x}, {})", macro, row, type);
}

/// Returns the name of what the argument points to; nothing if that has no name, or if not all ABIs have this number.
std::string_view name_of_target(const ast::IoctlRow& row) {
  const auto& last = row.signature->params.back().type;
  const auto* pointer = last ? std::get_if<ast::Pointer>(&last->node) : nullptr;
  const auto* target = pointer != nullptr ? std::get_if<ast::Named>(&pointer->target->node) : nullptr;
  const bool everywhere =
      std::all_of(row.number.begin(), row.number.end(), [&](const auto& n) { return n && n == row.number.front(); });
  return everywhere && target != nullptr && target->args.empty() && target->member.empty() ? target->name
                                                                                           : std::string_view{};
}

void check_number(const ast::Ioctls& block, const ast::IoctlRow& row, LoweringContext& context, IoctlLowering& ioctls,
                  const IoctlSignatures& signatures) {
  const auto& numbers = ioctls.numbers_of(row);
  std::int64_t first = 0;
  for (const auto& number : numbers) {
    first = first == 0 && number ? *number : first;
  }
  const auto known = signatures.find(&row);
  if (size_of_number(first) == 0 || (first >> 8 & 0xff) != block.type || known == signatures.end()) {
    return;
  }
  const auto params = context.set.signatures[known->second].params;
  const auto type = params.count == 0 ? none : context.set.params[params.first + params.count - 1].type;
  if (type == none) {
    return;
  }
  const bool points = context.set.types[type].kind == spec::TypeKind::pointer;
  const auto layout = ioctls.layout_in_number(points ? context.set.types[type].target : type, row.name.at);
  for (std::size_t i = 0; i < abi_count; ++i) {
    if (numbers[i] && size_of_number(*numbers[i]) != layout.size[i]) {
      context.diagnostics.warning(
          row.name.at, fmt::format("found {:#x}, of {} bytes on {}, expected the {} of the argument", *numbers[i],
                                   size_of_number(*numbers[i]), abi_names[i], layout.size[i]));
      return;
    }
  }
  const auto target = name_of_target(row);
  context.diagnostics.warning(row.name.at, fmt::format("found {:#x}, expected {}", first, encoded(first, "TYPE")),
                              target.empty() ? std::string() : encoded(first, target));
}

}  // namespace

void check_numbers(LoweringContext& context, IoctlLowering& ioctls, const IoctlSignatures& signatures) {
  for (const auto* block : context.symbols.ioctls) {
    for (const auto& row : block->rows) {
      if (row.encoding == ast::IoctlRow::Encoding::plain) {
        check_number(*block, row, context, ioctls, signatures);
      }
    }
  }
}

}  // namespace tracer::sysc
