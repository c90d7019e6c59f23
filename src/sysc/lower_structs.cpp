#include "sysc/lower_structs.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

namespace tracer::sysc {

using spec::none;
using spec::StructKind;
using spec::TypeKind;

namespace {

void report_no_field(const ast::Name& name, const ast::Struct& structure, Diagnostics& diagnostics) {
  NearMiss near(name.text);
  for (const auto& field : structure.fields) {
    near.consider(field.name.text);
  }
  diagnostics.error(name.at, "found " + name.text + ", expected a field of " + structure.name.text + near.suggestion());
}

}  // namespace

std::vector<spec::FieldId> print_order(const ast::Struct& structure, spec::Index first, Diagnostics& diagnostics) {
  const auto count = structure.fields.size();
  std::vector<spec::FieldId> ids(count, none);
  spec::Index next = first;
  for (const auto& name : structure.print) {
    const auto found = std::find_if(structure.fields.begin(), structure.fields.end(),
                                    [&](const auto& field) { return field.name.text == name.text; });
    if (found == structure.fields.end()) {
      report_no_field(name, structure, diagnostics);
    } else if (auto& id = ids[static_cast<std::size_t>(found - structure.fields.begin())]; id == none) {
      id = next++;
    }
  }
  for (auto& id : ids) {
    id = id == none ? next++ : id;
  }
  return ids;
}

void StructLowering::declare() {
  structs_.assign(context_.symbols.structs.size(), {});
  tables_.assign(context_.symbols.tables.size(), {});
  context_.set.structs.resize(context_.symbols.structs.size());
  context_.set.choices.resize(context_.symbols.tables.size());
  for (std::size_t i = 0; i < context_.symbols.structs.size(); ++i) {
    const auto count = next_index(context_.symbols.structs[i]->fields);
    context_.set.structs[i].fields = {next_index(context_.set.fields), count};
    context_.set.fields.resize(context_.set.fields.size() + count);
  }
}

/// Reports names in a list that no field has.
void StructLowering::check_names(const ast::Struct& structure, const std::optional<std::vector<ast::Name>>& names,
                                 const Scope& scope) {
  for (const auto& name : names.value_or(std::vector<ast::Name>{})) {
    const auto same = [&](const auto& entry) { return entry.name == name.text; };
    if (std::none_of(scope.entries.begin(), scope.entries.end(), same)) {
      report_no_field(name, structure, context_.diagnostics);
    }
  }
}

/// Returns the names that expressions in the structure may use.
Scope StructLowering::scope_of_fields(const ast::Struct& structure, const std::vector<spec::FieldId>& ids) {
  Scope scope{Scope::Kind::structure, {}, &structure.params};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto& field = structure.fields[i];
    if (field.name.text == "_") {
      continue;
    }
    const auto same = [&](const auto& entry) { return entry.name == field.name.text; };
    if (std::any_of(scope.entries.begin(), scope.entries.end(), same)) {
      context_.diagnostics.error(field.name.at, "found a second field " + field.name.text + ", expected another name");
    }
    scope.entries.push_back({field.name.text, ids[i], &field.type});
  }
  return scope;
}

spec::Field StructLowering::lower_field(const ast::Field& field, const ast::Struct& structure, const Scope& scope) {
  const std::string& name = field.name.text;
  const auto is_in = [&name](const std::vector<ast::Name>& names) {
    return std::any_of(names.begin(), names.end(), [&name](const auto& one) { return one.text == name; });
  };
  spec::Field lowered;
  lowered.name = context_.builder.string(name);
  lowered.type = types_.lower(field.type, scope);
  lowered.condition = exprs_.lower_optional(field.condition, scope);
  lowered.when = exprs_.lower_optional(field.when, scope);
  lowered.direction = field.direction;
  lowered.late = field.late;
  lowered.inlined = field.inlined;
  lowered.together = field.together;
  lowered.hidden = name == "_" || (!structure.print.empty() && !is_in(structure.print));
  lowered.in_brief = !structure.brief || is_in(*structure.brief);
  lowered.in_short = !structure.if_short || is_in(*structure.if_short);
  lowered.at = exprs_.lower_optional(field.offset, scope);
  return lowered;
}

void StructLowering::lower() {
  for (spec::Index i = 0; i < next_index(structs_); ++i) {
    lower_struct(i, {context_.symbols.structs[i]->name.at});
  }
  for (spec::Index i = 0; i < next_index(tables_); ++i) {
    lower_table(i);
  }
}

bool StructLowering::lower_struct(spec::Index index, TypeUse use) {
  const auto& structure = *context_.symbols.structs[index];
  if (structs_[index].progress == Progress::started) {
    if (within_stream(structs_[index], use)) {
      return true;
    }
    context_.diagnostics.error(use.at, "found " + structure.name.text + " inside itself, expected a pointer to it");
    return false;
  }
  if (structs_[index].progress == Progress::done) {
    return true;
  }
  structs_[index] = {Progress::started, use.open_streams};
  spec::Struct row = context_.set.structs[index];
  row.name = context_.builder.string(structure.name.text);
  row.kind = structure.kind;
  row.has_brief = structure.brief.has_value();
  row.is_part = structure.is_part;
  row.has_short = structure.if_short.has_value();
  row.short_end = structure.short_end.empty() ? spec::none : context_.builder.string(structure.short_end);
  row.is_list = structure.is_list;
  row.is_spliced = structure.is_spliced;
  row.is_complex = structure.is_complex;
  row.is_followed = structure.is_followed;
  row.param_count = static_cast<std::uint8_t>(structure.params.size());
  row.min_size = structure.min_size;
  row.filled_size = structure.filled_size;
  const auto ids = print_order(structure, row.fields.first, context_.diagnostics);
  const Scope scope = scope_of_fields(structure, ids);
  row.sized_by = exprs_.lower_optional(structure.sized_by, scope);
  row.step = exprs_.lower_optional(structure.step, scope);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    context_.set.fields[ids[i]] = lower_field(structure.fields[i], structure, scope);
  }
  row.show = show_of(structure, scope);
  check_names(structure, structure.brief, scope);
  check_names(structure, structure.if_short, scope);
  place_fields(structure, row, ids, use.open_streams + (structure.kind == StructKind::stream ? 1 : 0));
  context_.set.structs[index] = row;
  structs_[index].progress = Progress::done;
  return true;
}

spec::ShowIndex StructLowering::show_of(const ast::Struct& structure, const Scope& scope) {
  if (structure.show == nullptr) {
    return spec::no_show;
  }
  const auto index = types_.lower_show(*structure.show, scope);
  if (index >= spec::no_show) {
    context_.diagnostics.error(structure.show->at, "found more forms of numbers and structures than the tables hold");
    return spec::no_show;
  }
  return static_cast<spec::ShowIndex>(index);
}

/// Puts a bit-field behind those before it, into the scalar that they share.
void StructLowering::place_bits(spec::Field& field, BitUnit& unit) {
  spec::Type type = context_.set.types[field.type];
  type.bit_offset = static_cast<std::uint8_t>(unit.used);
  unit.used += type.bit_count;
  field.offset = unit.offset;
  field.type = context_.builder.type(type);
}

/// Whether a field at this offset lies over the start of its structure and no further than what is known of that.
static bool covers_start(const ast::Expr& offset, const TypeLayout& layout, const spec::Layout& around) {
  const auto* at = std::get_if<ast::Literal>(&offset.node);
  if (at == nullptr || at->value != 0 || layout.variable) {
    return false;
  }
  return std::equal(layout.size.begin(), layout.size.end(), around.size.begin(), std::less_equal<>());
}

void StructLowering::place_fields(const ast::Struct& structure, spec::Struct& row,
                                  const std::vector<spec::FieldId>& ids, unsigned open_streams) {
  const auto round_up = [](std::uint32_t value, std::uint32_t to) { return (value + to - 1) / to * to; };
  row.layout.align.fill(1);
  std::uint64_t total = 0;
  BitUnit unit;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto& field = structure.fields[i];
    if (unit.takes(context_.set.types[context_.set.fields[ids[i]].type]) && structure.kind != StructKind::overlay) {
      place_bits(context_.set.fields[ids[i]], unit);
      continue;
    }
    const auto layout = layout_of(context_.set.fields[ids[i]].type, {field.type.at, open_streams});
    if (layout.recursive) {
      context_.set.fields[ids[i]].type = types_.fallback();
      continue;
    }
    if (field.offset != nullptr) {
      row.variable = row.variable || !covers_start(*field.offset, layout, row.layout);
      continue;
    }
    if (row.variable && structure.kind != StructKind::overlay) {
      context_.diagnostics.error(field.name.at,
                                 "found a field after one whose length only run time knows, expected '}'");
    }
    row.variable = row.variable || layout.variable;
    for (std::size_t abi = 0; abi < abi_count; ++abi) {
      const bool packed = (structure.packed >> abi & 1) != 0;
      const auto align = packed ? std::uint8_t{1} : layout.align[abi];
      auto& size = row.layout.size[abi];
      const auto offset = structure.kind == StructKind::overlay ? 0 : round_up(size, align);
      context_.set.fields[ids[i]].offset[abi] = offset;
      size = std::max(size, offset + layout.size[abi]);
      row.layout.align[abi] = std::max(row.layout.align[abi], align);
      total = std::max(total, std::uint64_t{offset} + layout.size[abi]);
    }
    unit = {context_.set.types[context_.set.fields[ids[i]].type], context_.set.fields[ids[i]].offset};
  }
  if (total > 1U << 24) {
    context_.diagnostics.error(structure.name.at, "found a struct of more than 16 MiB, expected a smaller one");
  }
  for (std::size_t abi = 0; abi < abi_count && structure.kind != StructKind::stream; ++abi) {
    row.layout.size[abi] = round_up(row.layout.size[abi], row.layout.align[abi]);
  }
}

TypeLayout StructLowering::layout_of(spec::TypeId id, TypeUse use) {
  const spec::Type type = context_.set.types[id];
  TypeLayout layout;
  const auto scalar = [&](std::uint8_t width) {
    for (std::size_t i = 0; i < abi_count; ++i) {
      const auto abi = static_cast<Abi>(i);
      const auto size = static_cast<std::uint8_t>(spec::bytes_of(width, abi));
      layout.size[i] = size;
      // System V ABI, i386 supplement: no type has an alignment of more than a word.
      layout.align[i] = abi == Abi::i386 ? std::min<std::uint8_t>(size, 4) : size;
    }
  };
  switch (type.kind) {
    case TypeKind::scalar:
      scalar(type.width);
      break;
    case TypeKind::pointer:
      scalar(type.wide_pointer ? 8 : 0);
      break;
    case TypeKind::array:
    case TypeKind::bytes:
    case TypeKind::cstr:
      return layout_of_array(type, use);
    case TypeKind::custom:
      if (type.target != none) {
        return layout_of(type.target, use);
      }
      context_.diagnostics.error(use.at, "found 'custom' without a size in memory, expected 'custom NAME : TYPE'");
      break;
    case TypeKind::choice:
      return layout_of_choice(type.index, use);
    case TypeKind::structure: {
      layout.recursive = !lower_struct(type.index, use);
      const auto& structure = context_.set.structs[type.index];
      layout.size = structure.layout.size;
      std::transform(structure.layout.align.begin(), structure.layout.align.end(), layout.align.begin(),
                     [](auto align) { return std::max<std::uint8_t>(align, 1); });
      layout.variable = structure.variable || structure.kind == StructKind::stream ||
                        structs_[type.index].progress == Progress::started;
    }
  }
  return layout;
}

TypeLayout StructLowering::layout_of_array(const spec::Type& type, TypeUse use) {
  TypeLayout element;
  element.size.fill(1);
  if (type.kind == TypeKind::array) {
    element = layout_of(type.target, use);
  }
  TypeLayout layout = element;
  layout.size.fill(0);
  layout.variable = true;
  const bool counted = type.length_kind == spec::LengthKind::count || type.length_kind == spec::LengthKind::byte_count;
  for (std::size_t i = 0; counted && i < abi_count; ++i) {
    std::int64_t count = 0;
    if (!context_.builder.constant_value(type.length, static_cast<Abi>(i), count)) {
      return layout;
    }
    if (count < 0 || count > 1 << 20) {
      context_.diagnostics.error(use.at, fmt::format("found {} elements, expected 0 to 1048576", count));
      return layout;
    }
    const auto unit = type.length_kind == spec::LengthKind::count ? element.size[i] : 1;
    layout.size[i] =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(count) * unit, 1U << 28));
  }
  layout.variable = !counted || element.variable;
  return layout;
}

/// Returns the layout of a union if every row has a fixed size, else a variable layout.
TypeLayout StructLowering::layout_of_choice(spec::Index index, TypeUse use) {
  lower_table(index);
  TypeLayout layout;
  if (tables_[index].progress == Progress::started && within_stream(tables_[index], use)) {
    layout.variable = true;
    return layout;
  }
  if (tables_[index].progress == Progress::started) {
    context_.diagnostics.error(
        use.at, "found " + context_.symbols.tables[index]->name.text + " inside itself, expected a pointer to it");
    layout.recursive = true;
    return layout;
  }
  tables_[index] = {Progress::started, use.open_streams};
  const auto rows = context_.set.choices[index].rows;
  for (spec::Index i = rows.first; i < rows.first + rows.count; ++i) {
    const auto row = layout_of(context_.set.choice_rows[i].type, use);
    if (row.recursive) {
      context_.set.choice_rows[i].type = types_.fallback();
      continue;
    }
    layout.variable = layout.variable || row.variable;
    for (std::size_t abi = 0; abi < abi_count; ++abi) {
      layout.size[abi] = std::max(layout.size[abi], row.size[abi]);
      layout.align[abi] = std::max(layout.align[abi], row.align[abi]);
    }
  }
  tables_[index].progress = Progress::done;
  if (layout.variable || rows.count == 0) {
    layout = {};
    layout.variable = true;
  }
  return layout;
}

void StructLowering::lower_table(spec::Index index) {
  const auto& table = *context_.symbols.tables[index];
  if (tables_[index].progress != Progress::none) {
    return;
  }
  const Scope scope{Scope::Kind::table, {}, &table.params};
  std::vector<spec::ChoiceRow> rows;
  const auto lower_key = [&](const ast::Expr& key) {
    // A constant that an ABI does not have must match no value there.
    const auto values = exprs_.key_values(key, nullptr);
    std::array<std::int64_t, abi_count> plain{};
    std::transform(values.begin(), values.end(), plain.begin(),
                   [](const auto& value) { return value.value_or(spec::absent_key); });
    return context_.builder.literal(plain);
  };
  for (const auto& row : table.rows) {
    const auto type = types_.lower(row.type, scope);
    std::vector<spec::ChoiceRow> expanded{{{none, none}, type}};
    for (std::size_t k = 0; k < row.keys.size(); ++k) {
      if (row.keys[k].empty()) {
        continue;
      }
      std::vector<spec::ChoiceRow> next;
      for (const auto& base : expanded) {
        for (std::size_t i = 0; i < row.keys[k].size(); ++i) {
          const ast::Expr& key = row.keys[k][i];
          next.push_back(base);
          next.back().keys[k] = lower_key(key);
          next.back().beyond =
              base.beyond || (k == 0 && i < row.attributes.size()
                                  ? context_.symbols.is_beyond_value(table.name.text, row.attributes[i])
                                  : context_.symbols.is_beyond(table.name.text, key_text(key)));
        }
      }
      expanded = std::move(next);
    }
    const auto otherwise = row.otherwise ? types_.lower(*row.otherwise, scope) : none;
    for (auto& one : expanded) {
      one.whole = otherwise != none;
      rows.push_back(one);
      if (one.whole) {
        rows.push_back({one.keys, otherwise, false, one.beyond});
      }
    }
  }
  context_.set.choices[index] = {context_.builder.string(table.name.text),
                                 static_cast<std::uint8_t>(table.params.size()),
                                 append(context_.set.choice_rows, rows)};
  tables_[index].progress = Progress::done;
}

}  // namespace tracer::sysc
