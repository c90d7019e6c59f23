#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "sysc/lowering.h"

namespace tracer::sysc {

using spec::none;
using spec::StructKind;
using spec::TypeKind;

void Lowering::declare_structs() {
  structs_.assign(symbols_.structs.size(), {});
  variable_structs_.assign(symbols_.structs.size(), false);
  tables_.assign(symbols_.tables.size(), {});
  set_.structs.resize(symbols_.structs.size());
  set_.choices.resize(symbols_.tables.size());
  for (std::size_t i = 0; i < symbols_.structs.size(); ++i) {
    const auto count = next_index(symbols_.structs[i]->fields);
    set_.structs[i].fields = {next_index(set_.fields), count};
    set_.fields.resize(set_.fields.size() + count);
  }
}

void Lowering::report_no_field(const ast::Name& name, const ast::Struct& structure) {
  NearMiss near(name.text);
  for (const auto& field : structure.fields) {
    near.consider(field.name.text);
  }
  diagnostics_.error(name.at,
                     "found " + name.text + ", expected a field of " + structure.name.text + near.suggestion());
}

/// Reports what a list names that is no field.
void Lowering::check_names(const ast::Struct& structure, const std::optional<std::vector<ast::Name>>& names,
                           const Scope& scope) {
  for (const auto& name : names.value_or(std::vector<ast::Name>{})) {
    const auto same = [&](const auto& entry) { return entry.name == name.text; };
    if (std::none_of(scope.entries.begin(), scope.entries.end(), same)) {
      report_no_field(name, structure);
    }
  }
}

/// The FieldId of every field, in the order of memory: those of `print` first, in its order.
std::vector<spec::FieldId> Lowering::print_order(const ast::Struct& structure, spec::Index first) {
  const auto count = structure.fields.size();
  std::vector<spec::FieldId> ids(count, none);
  spec::Index next = first;
  for (const auto& name : structure.print) {
    const auto found = std::find_if(structure.fields.begin(), structure.fields.end(),
                                    [&](const auto& field) { return field.name.text == name.text; });
    if (found == structure.fields.end()) {
      report_no_field(name, structure);
    } else if (auto& id = ids[static_cast<std::size_t>(found - structure.fields.begin())]; id == none) {
      id = next++;
    }
  }
  for (auto& id : ids) {
    id = id == none ? next++ : id;
  }
  return ids;
}

/// What expressions in the structure may name.
Scope Lowering::scope_of_fields(const ast::Struct& structure, const std::vector<spec::FieldId>& ids) {
  Scope scope{Scope::Kind::structure, {}, &structure.params};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto& field = structure.fields[i];
    if (field.name.text == "_") {
      continue;
    }
    const auto same = [&](const auto& entry) { return entry.name == field.name.text; };
    if (std::any_of(scope.entries.begin(), scope.entries.end(), same)) {
      diagnostics_.error(field.name.at, "found a second field " + field.name.text + ", expected another name");
    }
    scope.entries.push_back({field.name.text, ids[i], &field.type});
  }
  return scope;
}

spec::Field Lowering::lower_field(const ast::Field& field, const ast::Struct& structure, const Scope& scope) {
  const std::string& name = field.name.text;
  const auto is_in = [&name](const std::vector<ast::Name>& names) {
    return std::any_of(names.begin(), names.end(), [&name](const auto& one) { return one.text == name; });
  };
  spec::Field lowered;
  lowered.name = builder_.string(name);
  lowered.type = lower_type(field.type, scope);
  lowered.condition = lower_optional(field.condition, scope);
  lowered.when = lower_optional(field.when, scope);
  lowered.direction = field.direction;
  lowered.after = field.after;
  lowered.inlined = field.inlined;
  lowered.together = field.together;
  lowered.hidden = name == "_" || (!structure.print.empty() && !is_in(structure.print));
  lowered.in_brief = !structure.brief || is_in(*structure.brief);
  lowered.in_short = !structure.if_short || is_in(*structure.if_short);
  lowered.at = lower_optional(field.offset, scope);
  return lowered;
}

bool Lowering::lower_struct(spec::Index index, Position use) {
  const auto& structure = *symbols_.structs[index];
  if (structs_[index].progress == Progress::started) {
    if (within_stream(structs_[index])) {
      return true;
    }
    diagnostics_.error(use, "found " + structure.name.text + " inside itself, expected a pointer to it");
    return false;
  }
  if (structs_[index].progress == Progress::done) {
    return true;
  }
  structs_[index] = {Progress::started, open_streams_};
  open_streams_ += structure.kind == StructKind::stream ? 1 : 0;
  spec::Struct row = set_.structs[index];
  row.name = builder_.string(structure.name.text);
  row.kind = structure.kind;
  row.has_brief = structure.brief.has_value();
  row.has_short = structure.if_short.has_value();
  row.is_list = structure.is_list;
  row.is_spliced = structure.is_spliced;
  row.is_complex = structure.is_complex;
  row.param_count = static_cast<std::uint8_t>(structure.params.size());
  row.min_size = structure.min_size;
  const auto ids = print_order(structure, row.fields.first);
  const Scope scope = scope_of_fields(structure, ids);
  row.sized_by = lower_optional(structure.sized_by, scope);
  row.step = lower_optional(structure.step, scope);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    set_.fields[ids[i]] = lower_field(structure.fields[i], structure, scope);
  }
  check_names(structure, structure.brief, scope);
  check_names(structure, structure.if_short, scope);
  place_fields(structure, row, ids);
  set_.structs[index] = row;
  structs_[index].progress = Progress::done;
  open_streams_ -= structure.kind == StructKind::stream ? 1 : 0;
  return true;
}

void Lowering::place_fields(const ast::Struct& structure, spec::Struct& row, const std::vector<spec::FieldId>& ids) {
  const auto round_up = [](std::uint32_t value, std::uint32_t to) { return (value + to - 1) / to * to; };
  row.layout.align.fill(1);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto& field = structure.fields[i];
    const auto layout = layout_of(set_.fields[ids[i]].type, field.type.at);
    if (layout.recursive) {
      set_.fields[ids[i]].type = fallback_type();
      continue;
    }
    if (field.offset != nullptr) {
      row.variable = true;
      continue;
    }
    if (row.variable && structure.kind != StructKind::overlay) {
      diagnostics_.error(field.name.at, "found a field after one whose length only run time knows, expected '}'");
    }
    row.variable = row.variable || layout.variable;
    for (std::size_t abi = 0; abi < abi_count; ++abi) {
      const bool packed = (structure.packed >> abi & 1) != 0;
      const auto align = packed ? std::uint8_t{1} : layout.align[abi];
      auto& size = row.layout.size[abi];
      const auto offset = structure.kind == StructKind::overlay ? 0 : round_up(size, align);
      set_.fields[ids[i]].offset[abi] = offset;
      size = std::max(size, offset + layout.size[abi]);
      row.layout.align[abi] = std::max(row.layout.align[abi], align);
      total = std::max(total, std::uint64_t{offset} + layout.size[abi]);
    }
  }
  if (total > 1U << 24) {
    diagnostics_.error(structure.name.at, "found a struct of more than 16 MiB, expected a smaller one");
  }
  for (std::size_t abi = 0; abi < abi_count && structure.kind != StructKind::stream; ++abi) {
    row.layout.size[abi] = round_up(row.layout.size[abi], row.layout.align[abi]);
  }
}

TypeLayout Lowering::layout_of(spec::TypeId id, Position at) {
  const spec::Type type = set_.types[id];
  TypeLayout layout;
  const auto scalar = [&](std::uint8_t width) {
    for (std::size_t i = 0; i < abi_count; ++i) {
      const auto abi = static_cast<Abi>(i);
      const auto size = static_cast<std::uint8_t>(spec::bytes_of(width, abi));
      layout.size[i] = size;
      // System V ABI, i386 supplement: nothing is aligned beyond a word.
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
      return layout_of_array(type, at);
    case TypeKind::custom:
      if (type.target != none) {
        return layout_of(type.target, at);
      }
      diagnostics_.error(at, "found 'custom' without a size in memory, expected 'custom NAME : TYPE'");
      break;
    case TypeKind::choice:
      return layout_of_choice(type.index, at);
    case TypeKind::structure: {
      layout.recursive = !lower_struct(type.index, at);
      const auto& structure = set_.structs[type.index];
      layout.size = structure.layout.size;
      std::transform(structure.layout.align.begin(), structure.layout.align.end(), layout.align.begin(),
                     [](auto align) { return std::max<std::uint8_t>(align, 1); });
      layout.variable = structure.variable || structure.kind == StructKind::stream ||
                        structs_[type.index].progress == Progress::started;
    }
  }
  return layout;
}

TypeLayout Lowering::layout_of_array(const spec::Type& type, Position at) {
  TypeLayout element;
  element.size.fill(1);
  if (type.kind == TypeKind::array) {
    element = layout_of(type.target, at);
  }
  TypeLayout layout = element;
  layout.size.fill(0);
  layout.variable = true;
  const bool counted = type.length_kind == spec::LengthKind::count || type.length_kind == spec::LengthKind::byte_count;
  for (std::size_t i = 0; counted && i < abi_count; ++i) {
    std::int64_t count = 0;
    if (!builder_.constant_value(type.length, static_cast<Abi>(i), count)) {
      return layout;
    }
    if (count < 0 || count > 1 << 20) {
      diagnostics_.error(at, fmt::format("found {} elements, expected 0 to 1048576", count));
      return layout;
    }
    const auto unit = type.length_kind == spec::LengthKind::count ? element.size[i] : 1;
    layout.size[i] =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(count) * unit, 1U << 28));
  }
  layout.variable = !counted || element.variable;
  return layout;
}

/// Like a union if every row has a size, else bytes of a length that only run time knows.
TypeLayout Lowering::layout_of_choice(spec::Index index, Position at) {
  lower_table(index);
  TypeLayout layout;
  if (tables_[index].progress == Progress::started && within_stream(tables_[index])) {
    layout.variable = true;
    return layout;
  }
  if (tables_[index].progress == Progress::started) {
    diagnostics_.error(at, "found " + symbols_.tables[index]->name.text + " inside itself, expected a pointer to it");
    layout.recursive = true;
    return layout;
  }
  tables_[index] = {Progress::started, open_streams_};
  const auto rows = set_.choices[index].rows;
  for (spec::Index i = rows.first; i < rows.first + rows.count; ++i) {
    const auto row = layout_of(set_.choice_rows[i].type, at);
    if (row.recursive) {
      set_.choice_rows[i].type = fallback_type();
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

void Lowering::lower_table(spec::Index index) {
  const auto& table = *symbols_.tables[index];
  if (tables_[index].progress != Progress::none) {
    return;
  }
  const Scope scope{Scope::Kind::table, {}, &table.params};
  std::vector<spec::ChoiceRow> rows;
  const auto lower_key = [&](const ast::Expr& key) {
    // A constant that an ABI does not have must match nothing there.
    const auto values = key_values(key, nullptr);
    std::array<std::int64_t, abi_count> plain{};
    std::transform(values.begin(), values.end(), plain.begin(),
                   [](const auto& value) { return value.value_or(spec::absent_key); });
    return builder_.literal(plain);
  };
  for (const auto& row : table.rows) {
    const auto type = lower_type(row.type, scope);
    std::vector<spec::ChoiceRow> expanded{{{none, none}, type}};
    for (std::size_t k = 0; k < row.keys.size(); ++k) {
      if (row.keys[k].empty()) {
        continue;
      }
      std::vector<spec::ChoiceRow> next;
      for (const auto& base : expanded) {
        for (const auto& key : row.keys[k]) {
          next.push_back(base);
          next.back().keys[k] = lower_key(key);
        }
      }
      expanded = std::move(next);
    }
    const auto otherwise = row.otherwise ? lower_type(*row.otherwise, scope) : none;
    for (auto& one : expanded) {
      one.whole = otherwise != none;
      rows.push_back(one);
      if (one.whole) {
        rows.push_back({one.keys, otherwise});
      }
    }
  }
  set_.choices[index] = {builder_.string(table.name.text), static_cast<std::uint8_t>(table.params.size()),
                         append(set_.choice_rows, rows)};
  tables_[index].progress = Progress::done;
}

}  // namespace tracer::sysc
