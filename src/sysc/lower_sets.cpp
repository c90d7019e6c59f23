#include "sysc/lower_sets.h"

#include <limits>

#include "sysc/lower_types.h"

namespace tracer::sysc {

namespace {

constexpr unsigned max_include_depth = 16;

}  // namespace

void SetLowering::lower() {
  for (const auto* set : context_.symbols.sets) {
    spec::ConstantSet row;
    lower_set(*set, row);
    context_.set.sets.push_back(row);
  }
}

void SetLowering::lower_set(const ast::Set& set, spec::ConstantSet& row) {
  row.name = context_.builder.string(set.name.text);
  row.unknown = context_.builder.optional_string(set.unknown);
  row.is_flags = set.is_flags;
  row.fallback = set.is_flags || !set.unknown.empty() ? spec::Style::hex : spec::Style::number;
  if (set.style) {
    row.fallback = style_named(*set.style, context_.diagnostics).value_or(row.fallback);
  }
  std::vector<ast::Group> groups;
  gather_groups(set, groups, 0);
  std::vector<spec::ConstantGroup> rows;
  for (const auto& group : groups) {
    std::vector<spec::Constant> constants;
    for (const auto& member : group.members) {
      add_constants(set.name.text, member, constants);
    }
    rows.push_back({group.mask, group.shift, context_.builder.optional_string(group.label),
                    context_.builder.optional_string(group.unknown), group.apart,
                    append(context_.set.constants, constants)});
  }
  row.groups = append(context_.set.groups, rows);
}

void SetLowering::gather_groups(const ast::Set& set, std::vector<ast::Group>& groups, unsigned depth) {
  for (const auto& part : set.parts) {
    if (const auto* group = std::get_if<ast::Group>(&part)) {
      if (group->mask != 0 && !set.is_flags) {
        context_.diagnostics.error(group->at, "found 'mask' in an enum, expected it in flags only");
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
    const Symbol* symbol = context_.symbols.find_type(name.text);
    const auto* included = symbol == nullptr ? nullptr : std::get_if<const ast::Set*>(&symbol->declaration);
    if (included == nullptr) {
      context_.diagnostics.error(name.at, "found " + name.text + ", expected the name of an enum or of flags" +
                                              (symbol == nullptr ? type_suggestion(context_.symbols, name.text) : ""));
    } else if (depth == max_include_depth) {
      context_.diagnostics.error(name.at, "found a set that includes itself");
    } else {
      gather_groups(**included, groups, depth + 1);
    }
  }
}

void SetLowering::add_constants(const std::string& set, const ast::Member& member,
                                std::vector<spec::Constant>& constants) {
  const bool beyond = context_.symbols.is_beyond(set, member.name.text);
  const auto name = context_.builder.string(member.name.text);
  for_each_value(member.values, [&](std::uint64_t value, AbiMask mask) {
    const auto reach = member.last == 0 ? 0 : static_cast<std::uint64_t>(member.last) - value;
    if (reach > std::numeric_limits<std::uint32_t>::max()) {
      context_.diagnostics.error(member.name.at, "found a range that ends before it begins, or is too large");
    }
    constants.push_back({name, mask, value, 0, spec::none, beyond, false, member.shows_hex_distance,
                         static_cast<std::uint32_t>(reach)});
  });
}

}  // namespace tracer::sysc
