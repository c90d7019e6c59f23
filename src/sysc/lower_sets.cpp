#include <fmt/core.h>

#include <algorithm>

#include "sysc/lowering.h"

namespace tracer::sysc {

namespace {

constexpr unsigned deepest_include = 16;

/// One constant for each value, with the ABIs that have it.
template <typename Add>
void for_each_value(const AbiValues& values, Add add) {
  AbiMask seen = 0;
  for (std::size_t i = 0; i < abi_count; ++i) {
    if (!values[i] || (seen >> i & 1) != 0) {
      continue;
    }
    AbiMask mask = 0;
    for (std::size_t j = i; j < abi_count; ++j) {
      if (values[j] == values[i]) {
        mask = static_cast<AbiMask>(mask | 1U << j);
      }
    }
    seen = static_cast<AbiMask>(seen | mask);
    add(static_cast<std::uint64_t>(*values[i]), mask);
  }
}

}  // namespace

void Lowering::lower_sets() {
  for (const auto* set : symbols_.sets) {
    spec::ConstantSet row;
    lower_set(*set, row);
    set_.sets.push_back(row);
  }
}

void Lowering::lower_set(const ast::Set& set, spec::ConstantSet& row) {
  row.name = builder_.string(set.name.text);
  row.unknown = builder_.optional_string(set.unknown);
  row.is_flags = set.is_flags;
  row.fallback = set.is_flags || !set.unknown.empty() ? spec::Style::hex : spec::Style::number;
  if (set.style) {
    row.fallback = style_named(*set.style).value_or(row.fallback);
  }
  std::vector<ast::Group> groups;
  gather_groups(set, groups, 0);
  std::vector<spec::ConstantGroup> rows;
  for (const auto& group : groups) {
    std::vector<spec::Constant> constants;
    for (const auto& member : group.members) {
      add_constants(member, constants);
    }
    rows.push_back({group.mask, group.shift, builder_.optional_string(group.label),
                    builder_.optional_string(group.unknown), group.apart, append(set_.constants, constants)});
  }
  row.groups = append(set_.groups, rows);
}

void Lowering::gather_groups(const ast::Set& set, std::vector<ast::Group>& groups, unsigned depth) {
  for (const auto& part : set.parts) {
    if (const auto* group = std::get_if<ast::Group>(&part)) {
      if (group->mask != 0 && !set.is_flags) {
        diagnostics_.error(group->at, "found 'mask' in an enum, expected it in flags only");
      }
      const bool goes_on = !groups.empty() && group->mask == 0 && groups.back().mask == 0;
      if (goes_on) {
        auto& members = groups.back().members;
        members.insert(members.end(), group->members.begin(), group->members.end());
      } else {
        groups.push_back(*group);
      }
      continue;
    }
    const auto& name = std::get<ast::Include>(part).set;
    const Symbol* symbol = symbols_.find_type(name.text);
    const auto* included = symbol == nullptr ? nullptr : std::get_if<const ast::Set*>(&symbol->declaration);
    if (included == nullptr) {
      diagnostics_.error(name.at, "found " + name.text + ", expected the name of an enum or of flags" +
                                      (symbol == nullptr ? type_suggestion(name.text) : ""));
    } else if (depth == deepest_include) {
      diagnostics_.error(name.at, "found a set that includes itself");
    } else {
      gather_groups(**included, groups, depth + 1);
    }
  }
}

void Lowering::add_constants(const ast::Member& member, std::vector<spec::Constant>& constants) {
  const auto name = builder_.string(member.name.text);
  for_each_value(member.values, [&](std::uint64_t value, AbiMask mask) {
    constants.push_back({name, mask, value, 0, spec::none});
  });
}

// ---------------------------------------------------------------------------------------------- ioctls

/// As the header's type is laid out: a structure that says a size has it, else it reaches to its last field.
TypeLayout Lowering::layout_in_number(spec::TypeId id, Position at) {
  auto layout = layout_of(id, at);
  if (set_.types[id].kind != spec::TypeKind::structure) {
    return layout;
  }
  const auto structure = set_.structs[set_.types[id].index];
  constexpr std::int64_t most = 1 << 20;
  for (std::size_t i = 0; i < abi_count; ++i) {
    const auto abi = static_cast<Abi>(i);
    std::int64_t size = 0;
    if (structure.sized_by != spec::none && builder_.constant_value(structure.sized_by, abi, size)) {
      layout.size[i] = static_cast<std::uint32_t>(std::clamp<std::int64_t>(size, 0, most));
      continue;
    }
    for (auto field = structure.fields.first; field < structure.fields.first + structure.fields.count; ++field) {
      std::int64_t offset = 0;
      if (set_.fields[field].at != spec::none && builder_.constant_value(set_.fields[field].at, abi, offset)) {
        const auto end = std::clamp<std::int64_t>(offset, 0, most) + layout_of(set_.fields[field].type, at).size[i];
        layout.size[i] = std::max(layout.size[i], static_cast<std::uint32_t>(end));
      }
    }
  }
  return layout;
}

AbiValues Lowering::ioctl_numbers(const ast::Ioctls& block, const ast::IoctlRow& row) {
  using Encoding = ast::IoctlRow::Encoding;
  if (row.encoding == Encoding::plain) {
    return row.number;
  }
  constexpr std::uint32_t direction_of[] = {0, 0, 2, 1, 3};
  TypeLayout layout;
  const auto* type = row.size_type();
  if (type != nullptr) {
    layout = layout_in_number(lower_type(*type, {}), type->at);
  }
  AbiValues values;
  for (std::size_t i = 0; i < abi_count; ++i) {
    if (layout.size[i] > 0x3fff) {
      diagnostics_.error(type->at,
                         fmt::format("found a type of {} bytes, expected one of less than 16384 as an ioctl's argument",
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

/// The set that names the numbers of an ioctl that has a range of them.
spec::Index Lowering::number_set(const ast::IoctlRow& row) {
  if (!row.number_set) {
    return spec::none;
  }
  const Symbol* symbol = symbols_.find_type(row.number_set->text);
  if (symbol == nullptr || !std::holds_alternative<const ast::Set*>(symbol->declaration)) {
    diagnostics_.error(row.number_set->at, "found " + row.number_set->text + ", expected the name of an enum" +
                                               (symbol == nullptr ? type_suggestion(row.number_set->text) : ""));
    return spec::none;
  }
  return symbol->index;
}

/// The set behind the built-in type ioctl_cmd, sorted by number, equal ones by name.
void Lowering::lower_ioctl_set() {
  std::vector<spec::Constant> constants;
  for (const auto* block : symbols_.ioctls) {
    for (const auto& row : block->rows) {
      const auto values = ioctl_numbers(*block, row);
      ioctl_numbers_.emplace(&row, values);
      symbols_.add_constant(row.name, {nullptr, values, row.name.at});
      const auto name = builder_.string(row.name.text);
      const auto numbers = number_set(row);
      for_each_value(values, [&](std::uint64_t value, AbiMask mask) {
        constants.push_back({name, mask, value, open_bits_of(row), numbers});
      });
    }
  }
  std::sort(constants.begin(), constants.end(), [&](const spec::Constant& a, const spec::Constant& b) {
    return a.value != b.value ? a.value < b.value
                              : std::string_view(set_.strings.c_str() + a.name) < set_.strings.c_str() + b.name;
  });
  spec::ConstantSet row;
  row.name = builder_.string("ioctl_cmd");
  row.fallback = spec::Style::ioctl;
  spec::ConstantGroup group;
  group.constants = append(set_.constants, constants);
  row.groups = append(set_.groups, {group});
  set_.sets[ioctl_set_] = row;
}

}  // namespace tracer::sysc
