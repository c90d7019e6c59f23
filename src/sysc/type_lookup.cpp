#include "sysc/type_lookup.h"

#include <algorithm>

namespace tracer::sysc {

const ast::Type* TypeLookup::resolve(const ast::Type& type) {
  const ast::Type* here = &type;
  for (unsigned depth = 0; depth < max_alias_depth; ++depth) {
    const auto* named = std::get_if<ast::Named>(&here->node);
    const Symbol* symbol = named == nullptr ? nullptr : symbols_.find_type(named->name);
    const auto* alias = symbol == nullptr ? nullptr : std::get_if<const ast::Alias*>(&symbol->declaration);
    if (alias == nullptr) {
      return here;
    }
    here = &(*alias)->type;
  }
  return nullptr;
}

const Symbol* TypeLookup::declaration_of(const ast::Type& type) {
  const ast::Type* behind = resolve(type);
  const auto* named = behind == nullptr ? nullptr : std::get_if<ast::Named>(&behind->node);
  return named == nullptr ? nullptr : symbols_.find_type(named->name);
}

ast::Type::Registers TypeLookup::registers_of(const ast::Type& type) {
  const ast::Type* here = &type;
  for (unsigned depth = 0; depth < max_alias_depth && here != nullptr; ++depth) {
    if (here->registers != ast::Type::Registers::one) {
      return here->registers;
    }
    const auto* named = std::get_if<ast::Named>(&here->node);
    const Symbol* symbol = named == nullptr ? nullptr : symbols_.find_type(named->name);
    const auto* alias = symbol == nullptr ? nullptr : std::get_if<const ast::Alias*>(&symbol->declaration);
    here = alias == nullptr ? nullptr : &(*alias)->type;
  }
  return ast::Type::Registers::one;
}

bool TypeLookup::is_chosen(const ast::Type& type, unsigned depth) {
  const Symbol* symbol = declaration_of(type);
  const auto* table = symbol == nullptr ? nullptr : std::get_if<const ast::Table*>(&symbol->declaration);
  if (table == nullptr) {
    return false;
  }
  // If all types that the table chooses from are sets, the field has a number.
  const auto& rows = (*table)->rows;
  return std::any_of(rows.begin(), rows.end(), [&](const ast::TableRow& row) {
    return set_of(row.type) == nullptr && (depth == 0 || is_chosen(row.type, depth - 1) || !is_table(row.type));
  });
}

bool TypeLookup::is_table(const ast::Type& type) {
  const Symbol* symbol = declaration_of(type);
  return symbol != nullptr && std::holds_alternative<const ast::Table*>(symbol->declaration);
}

const ast::Set* TypeLookup::set_of(const ast::Type& type) {
  const ast::Type* behind = resolve(type);
  if (const auto* custom = behind == nullptr ? nullptr : std::get_if<ast::Custom>(&behind->node)) {
    return custom->memory == nullptr ? nullptr : set_of(*custom->memory);
  }
  const Symbol* symbol = declaration_of(type);
  const auto* set = symbol == nullptr ? nullptr : std::get_if<const ast::Set*>(&symbol->declaration);
  return set == nullptr ? nullptr : *set;
}

}  // namespace tracer::sysc
