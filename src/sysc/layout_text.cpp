#include "sysc/layout_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace tracer::sysc {
namespace {

using namespace spec;

/// Measures types on one ABI. A size is empty where only run time knows it.
class Ruler {
 public:
  Ruler(const Tables& tables, Abi abi) : tables_(tables), abi_(abi) {}

  [[nodiscard]] std::optional<std::uint64_t> size_of(TypeId id) const {
    const Type& type = tables_.types[id];
    switch (type.kind) {
      case TypeKind::scalar:
        return bytes_of(type.width, abi_);
      case TypeKind::pointer:
        return type.wide_pointer ? 8U : word_size(abi_);
      case TypeKind::array:
      case TypeKind::bytes:
      case TypeKind::cstr:
        return size_of_array(type);
      case TypeKind::custom:
        return type.target == none ? std::nullopt : size_of(type.target);
      case TypeKind::choice:
        return size_of_choice(tables_.choices[type.index]);
      case TypeKind::structure: {
        const Struct& structure = tables_.structs[type.index];
        const bool is_known = !structure.variable && structure.kind != StructKind::stream;
        return is_known ? std::optional<std::uint64_t>(structure.layout.size[index_of(abi_)]) : std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<std::uint64_t> size_of_array(const Type& type) const {
    const auto count = type.length == none ? std::nullopt : value_of(tables_.exprs[type.length]);
    if (count && type.length_kind == LengthKind::byte_count) {
      return count;
    }
    const auto element = type.kind == TypeKind::array ? size_of(type.target) : std::optional<std::uint64_t>(1);
    return count && element && type.length_kind == LengthKind::count ? std::optional(*count * *element) : std::nullopt;
  }

  [[nodiscard]] std::optional<std::uint64_t> size_of_choice(const Choice& choice) const {
    std::uint64_t largest = 0;
    for (const ChoiceRow& row : Tables::slice(tables_.choice_rows, choice.rows)) {
      const auto size = row.type == none ? std::nullopt : size_of(row.type);
      if (!size) {
        return std::nullopt;
      }
      largest = std::max(largest, *size);
    }
    return largest;
  }

  [[nodiscard]] std::optional<std::uint64_t> value_of(const Expr& expr) const {
    switch (expr.op) {
      case ExprOp::literal:
        return static_cast<std::uint64_t>(expr.value);
      case ExprOp::variable_literal:
        return static_cast<std::uint64_t>(tables_.abi_values[expr.a + index_of(abi_)]);
      case ExprOp::word:
        return word_size(abi_);
      case ExprOp::add:
      case ExprOp::subtract:
      case ExprOp::multiply:
        return value_of(expr.op, value_of(tables_.exprs[expr.a]), value_of(tables_.exprs[expr.b]));
      default:
        return std::nullopt;
    }
  }

  static std::optional<std::uint64_t> value_of(ExprOp op, std::optional<std::uint64_t> a,
                                               std::optional<std::uint64_t> b) {
    if (!a || !b) {
      return std::nullopt;
    }
    return op == ExprOp::add ? *a + *b : op == ExprOp::subtract ? *a - *b : *a * *b;
  }

  const Tables& tables_;
  Abi abi_;
};

constexpr const char* known_at_run_time = "?";

/// The lines for one ABI: the size of the structure, and what its fields take up, in the order of memory.
std::string lines_on(const Tables& tables, const Struct& structure, Abi abi) {
  const Ruler ruler(tables, abi);
  std::vector<const Field*> fields;
  for (const Field& field : Tables::slice(tables.fields, structure.fields)) {
    fields.push_back(&field);
  }
  const std::size_t a = index_of(abi);
  std::stable_sort(fields.begin(), fields.end(), [a](const Field* one, const Field* other) {
    return std::pair(one->at != none, one->offset[a]) < std::pair(other->at != none, other->offset[a]);
  });
  std::string out = fmt::format("{}{} bytes\n  offset   size  field\n", structure.variable ? "at least " : "",
                                structure.layout.size[a]);
  for (const Field* field : fields) {
    const auto size = ruler.size_of(field->type);
    out += fmt::format("  {:>6} {:>6}  {}\n", field->at == none ? std::to_string(field->offset[a]) : known_at_run_time,
                       size ? std::to_string(*size) : known_at_run_time, tables.text(field->name));
  }
  return out;
}

}  // namespace

std::string layout_text(const Tables& tables, std::string_view name, AbiMask abis) {
  const auto structure = std::find_if(tables.structs.begin(), tables.structs.end(),
                                      [&](const Struct& row) { return tables.text(row.name) == name; });
  if (structure == tables.structs.end()) {
    return {};
  }
  std::vector<std::pair<std::string, std::string>> blocks;  // names of ABIs, and the lines for each of them
  for (std::size_t i = 0; i < abi_count; ++i) {
    if ((abis & mask_of(static_cast<Abi>(i))) == 0) {
      continue;
    }
    std::string lines = lines_on(tables, *structure, static_cast<Abi>(i));
    const auto same =
        std::find_if(blocks.begin(), blocks.end(), [&](const auto& block) { return block.second == lines; });
    if (same == blocks.end()) {
      blocks.emplace_back(abi_names[i], std::move(lines));
    } else {
      same->first.append(", ").append(abi_names[i]);
    }
  }
  std::string out;
  for (const auto& [names, lines] : blocks) {
    out += fmt::format("{} on {}: {}", name, names, lines);
  }
  return out;
}

}  // namespace tracer::sysc
