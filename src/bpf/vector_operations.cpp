#include "bpf/vector_operations.h"

#include <algorithm>

namespace tracer {

using namespace spec;

void VectorOperations::vectors(const Struct& element, std::uint8_t base, std::uint32_t offset, const Length& count,
                               std::uint32_t size, std::uint32_t shift, unsigned depth) {
  for (const Field& field : Tables::slice(t_.fields, element.fields)) {
    const Type& type = t_.types[field.type];
    if (type.kind == TypeKind::structure && depth < deepest_followed) {
      vectors(t_.structs[type.index], base, offset, count, size, shift + field.offset[index_of(abi_)], depth + 1);
      continue;
    }
    std::optional<capture_operation> op = vector(field, base, offset, size, shift);
    if (!op || count.slot == slot_none) {
      continue;
    }
    op->length = count.slot;
    op->count_width = count.width;
    if (const auto within = vector_within(type, base)) {
      op->kind = capture_vectors;
      add(*op, *within);
    } else {
      add(*op);
    }
  }
}

std::optional<capture_operation> VectorOperations::vector(const Field& field, std::uint8_t base, std::uint32_t offset,
                                                          std::uint32_t size, std::uint32_t shift) {
  const Type& pointer = t_.types[field.type];
  if (pointer.kind != TypeKind::pointer || pointer.target == none || size == 0) {
    return std::nullopt;
  }
  const Type* data = &t_.types[pointer.target];
  while (data->kind == TypeKind::custom && data->target != none) {
    data = &t_.types[data->target];
  }
  ExprId said = data->length;
  if (said == none && data->args.count != 0) {
    said = t_.expr_lists[data->args.first];
  }
  said = said == none ? pointer.sized_by : said;
  if (said == none || t_.exprs[said].op != ExprOp::field) {
    return std::nullopt;
  }
  capture_operation op = operation(capture_vector, base, offset);
  op.width = static_cast<std::uint8_t>(pointer_width(pointer));
  const Field& length = t_.fields[t_.exprs[said].a];
  op.pointer_offset = static_cast<std::uint16_t>(shift + field.offset[index_of(abi_)]);
  op.length_offset = static_cast<std::uint16_t>(shift + length.offset[index_of(abi_)]);
  op.length_width = static_cast<std::uint8_t>(size_of(t_.types[length.type]));
  op.element = static_cast<std::uint16_t>(size);
  op.most = std::max<std::uint32_t>(limits_.string_limit + 2, data->kind == TypeKind::bytes ? 0 : unknown_size);
  if (data->kind == TypeKind::array && data->length_kind == LengthKind::count) {
    op.scale = std::max<std::uint32_t>(size_of(t_.types[data->target]), 1);
    op.most = most_elements * op.scale;
  }
  op.most = std::min<std::uint32_t>(op.most, block_size);
  return op;
}

std::optional<capture_operation> VectorOperations::vector_within(const Type& pointer, std::uint8_t base) {
  const Type& array = t_.types[pointer.target];
  if (array.kind != TypeKind::array || t_.types[array.target].kind != TypeKind::structure) {
    return std::nullopt;
  }
  const Struct& element = t_.structs[t_.types[array.target].index];
  for (const Field& field : Tables::slice(t_.fields, element.fields)) {
    if (auto op = vector(field, base, 0, element.layout.size[index_of(abi_)], 0)) {
      op->kind = capture_within;
      return op;
    }
  }
  return std::nullopt;
}

}  // namespace tracer
