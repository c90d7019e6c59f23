#include "sysc/lower_ioctls.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "sysc/lower_sets.h"

namespace tracer::sysc {

/// The number encodes the size of the header's type: the declared size of a structure, else the end of its last field.
TypeLayout IoctlLowering::layout_in_number(spec::TypeId id, Position at) {
  auto layout = structs_.layout_of(id, {at});
  if (context_.set.types[id].kind != spec::TypeKind::structure) {
    return layout;
  }
  const auto structure = context_.set.structs[context_.set.types[id].index];
  constexpr std::int64_t most = 1 << 20;
  for (std::size_t i = 0; i < abi_count; ++i) {
    const auto abi = static_cast<Abi>(i);
    std::int64_t size = 0;
    if (structure.sized_by != spec::none && context_.builder.constant_value(structure.sized_by, abi, size)) {
      layout.size[i] = static_cast<std::uint32_t>(std::clamp<std::int64_t>(size, 0, most));
      continue;
    }
    for (auto field = structure.fields.first; field < structure.fields.first + structure.fields.count; ++field) {
      std::int64_t offset = 0;
      if (context_.set.fields[field].at != spec::none &&
          context_.builder.constant_value(context_.set.fields[field].at, abi, offset)) {
        const auto end = std::clamp<std::int64_t>(offset, 0, most) +
                         structs_.layout_of(context_.set.fields[field].type, {at}).size[i];
        layout.size[i] = std::max(layout.size[i], static_cast<std::uint32_t>(end));
      }
    }
  }
  return layout;
}

AbiValues IoctlLowering::compute_numbers(const ast::Ioctls& block, const ast::IoctlRow& row) {
  using Encoding = ast::IoctlRow::Encoding;
  if (row.encoding == Encoding::plain) {
    return row.number;
  }
  constexpr std::uint32_t direction_of[] = {0, 0, 2, 1, 3};
  TypeLayout layout;
  const auto* type = row.size_type();
  if (type != nullptr) {
    layout = layout_in_number(types_.lower(*type, {}), type->at);
  }
  AbiValues values;
  for (std::size_t i = 0; i < abi_count; ++i) {
    if (layout.size[i] > 0x3fff) {
      context_.diagnostics.error(
          type->at, fmt::format("found a type of {} bytes, expected one of less than 16384 as an ioctl's argument",
                                layout.size[i]));
      break;
    }
    if (row.number[i]) {
      values[i] = static_cast<std::int64_t>(direction_of[static_cast<std::size_t>(row.encoding)] << 30 |
                                            layout.size[i] << 16 | std::uint32_t{block.type} << 8) |
                  *row.number[i];
    }
  }
  return values;
}

std::uint32_t open_bits_of(const ast::IoctlRow& row) {
  constexpr std::uint32_t size_bits = 0x3fff0000;
  return row.open_number | (row.any_size ? size_bits : 0);
}

/// Returns the set that names the numbers of an ioctl that has a range of them.
spec::Index IoctlLowering::number_set(const ast::IoctlRow& row) {
  if (!row.number_set) {
    return spec::none;
  }
  const Symbol* symbol = context_.symbols.find_type(row.number_set->text);
  if (symbol == nullptr || !std::holds_alternative<const ast::Set*>(symbol->declaration)) {
    context_.diagnostics.error(row.number_set->at,
                               "found " + row.number_set->text + ", expected the name of an enum" +
                                   (symbol == nullptr ? type_suggestion(context_.symbols, row.number_set->text) : ""));
    return spec::none;
  }
  return symbol->index;
}

void IoctlLowering::declare() {
  context_.ioctl_set = next_index(context_.set.sets);
  context_.set.sets.emplace_back();
}

void IoctlLowering::lower() {
  std::vector<spec::Constant> constants;
  std::map<std::string, std::vector<spec::Constant>> special;  // those of a driver
  std::unordered_map<std::uint64_t, unsigned> names_of;        // how many names a number has
  for (const auto* block : context_.symbols.ioctls) {
    for (const auto& row : block->rows) {
      const auto values = compute_numbers(*block, row);
      numbers_.emplace(&row, values);
      if (row.name.text == "_") {
        continue;  // nothing to show but the argument
      }
      context_.symbols.add_constant(row.name, {nullptr, values, row.name.at});
      const auto name = context_.builder.string(row.name.text);
      const auto numbers = number_set(row);
      const bool beyond = context_.symbols.is_beyond("ioctl_cmd", row.name.text);
      for_each_value(values, [&](std::uint64_t value, AbiMask mask) {
        const auto add = [&](AbiMask abis, bool unlikely) {
          if (abis != 0) {
            constants.push_back({name, abis, value, open_bits_of(row), numbers, beyond, unlikely});
            ++names_of[value];
            if (!row.driver.empty()) {
              special[row.driver].push_back(constants.back());
            }
          }
        };
        add(static_cast<AbiMask>(mask & row.unlikely), true);
        add(static_cast<AbiMask>(mask & ~row.unlikely), false);
      });
    }
  }
  spec::SetId last = context_.ioctl_set;
  context_.set.sets[last] = set_of(std::move(constants));
  for (auto& [driver, of_driver] : special) {
    const bool beyond = context_.symbols.is_beyond("drivers", driver);
    std::erase_if(of_driver, [&](const spec::Constant& constant) { return names_of[constant.value] < 2; });
    if (of_driver.empty()) {
      continue;
    }
    auto set = set_of(std::move(of_driver));
    set.driver = context_.builder.string(driver);
    set.beyond = beyond;
    context_.set.sets[last].special = next_index(context_.set.sets);
    last = next_index(context_.set.sets);
    context_.set.sets.push_back(set);
  }
}

/// Makes a set of requests, by their numbers and names.
spec::ConstantSet IoctlLowering::set_of(std::vector<spec::Constant> constants) {
  std::sort(constants.begin(), constants.end(), [&](const spec::Constant& a, const spec::Constant& b) {
    return a.value != b.value
               ? a.value < b.value
               : std::string_view(context_.set.strings.c_str() + a.name) < context_.set.strings.c_str() + b.name;
  });
  spec::ConstantSet row;
  row.name = context_.builder.string("ioctl_cmd");
  row.fallback = spec::Style::ioctl;
  spec::ConstantGroup group;
  group.constants = append(context_.set.constants, constants);
  row.groups = append(context_.set.groups, {group});
  return row;
}

}  // namespace tracer::sysc
