// The references between tables: each index of an entry with the table that it is an index into.
#pragma once

#include <cstdint>

#include "spec/spec.h"

namespace tracer::spec {

/// A table of Tables that others refer to.
enum class Part : std::uint8_t {
  strings,
  exprs,
  expr_lists,
  abi_values,
  constants,
  groups,
  sets,
  customs,
  types,
  structs,
  fields,
  shows,
  show_parts,
  choices,
  choice_rows,
  params,
  signatures,
  signature_rows,
  calls,
  redirects,
};
inline constexpr std::size_t part_count = 20;

// for_each_reference(entry, visit) calls `visit(part, index)` for every index that is not `none`, and
// `visit(part, range)` for every range; both may be changed.

template <typename Visit>
void visit_index(Part part, Index& index, Visit& visit) {
  if (index != none) {
    visit(part, index);
  }
}

/// Returns whether an expression of this kind refers to no other entry.
constexpr bool is_leaf(ExprOp op) {
  switch (op) {
    case ExprOp::literal:
    case ExprOp::param:
    case ExprOp::ret:
    case ExprOp::ok:
    case ExprOp::rest:
    case ExprOp::word:
    case ExprOp::nth:
    case ExprOp::option:
    case ExprOp::it:
    case ExprOp::everything:
      return true;
    default:
      return false;
  }
}

template <typename Visit>
void for_each_reference(Expr& e, Visit visit) {
  if (is_leaf(e.op)) {
    return;
  }
  switch (e.op) {
    case ExprOp::variable_literal:
      return visit_index(Part::abi_values, e.a, visit);
    case ExprOp::arg:
    case ExprOp::deref:
      return visit_index(Part::params, e.a, visit);
    case ExprOp::field:
    case ExprOp::deref_field:
      return visit_index(Part::fields, e.a, visit);
    case ExprOp::member:
      visit_index(Part::fields, e.a, visit);
      return visit_index(Part::fields, e.b, visit);
    case ExprOp::outer:
      return visit_index(Part::strings, e.a, visit);
    case ExprOp::lookup:
    case ExprOp::sibling:
      return visit_index(Part::exprs, e.a, visit);
    default:  // binary operators
      visit_index(Part::exprs, e.a, visit);
      visit_index(Part::exprs, e.b, visit);
  }
}

template <typename Visit>
void for_each_reference(Constant& c, Visit visit) {
  visit_index(Part::strings, c.name, visit);
  visit_index(Part::sets, c.number_set, visit);
}

template <typename Visit>
void for_each_reference(ConstantGroup& g, Visit visit) {
  visit_index(Part::strings, g.label, visit);
  visit_index(Part::strings, g.unknown, visit);
  visit(Part::constants, g.constants);
}

template <typename Visit>
void for_each_reference(ConstantSet& s, Visit visit) {
  visit_index(Part::strings, s.name, visit);
  visit_index(Part::strings, s.unknown, visit);
  visit_index(Part::strings, s.driver, visit);
  visit_index(Part::sets, s.special, visit);
  visit(Part::groups, s.groups);
}

template <typename Visit>
void for_each_reference(Type& t, Visit visit) {
  visit_index(Part::strings, t.name, visit);
  visit_index(Part::customs, t.custom, visit);
  visit_index(Part::strings, t.brief, visit);
  visit_index(Part::sets, t.set, visit);
  visit_index(Part::types, t.target, visit);
  visit_index(Part::exprs, t.length, visit);
  visit_index(Part::exprs, t.budget, visit);
  visit_index(Part::exprs, t.sized_by, visit);
  visit_index(t.kind == TypeKind::choice   ? Part::choices
              : t.kind == TypeKind::scalar ? Part::shows
                                           : Part::structs,
              t.index, visit);
  visit(Part::expr_lists, t.args);
}

template <typename Visit>
void for_each_reference(Struct& s, Visit visit) {
  visit_index(Part::strings, s.name, visit);
  visit_index(Part::strings, s.short_end, visit);
  visit_index(Part::exprs, s.sized_by, visit);
  visit_index(Part::exprs, s.step, visit);
  visit(Part::fields, s.fields);
  if (s.show != no_show) {
    Index show = s.show;
    visit(Part::shows, show);
    s.show = static_cast<ShowIndex>(show);
  }
}

template <typename Visit>
void for_each_reference(Field& f, Visit visit) {
  visit_index(Part::strings, f.name, visit);
  visit_index(Part::types, f.type, visit);
  visit_index(Part::exprs, f.condition, visit);
  visit_index(Part::exprs, f.when, visit);
  visit_index(Part::exprs, f.at, visit);
}

template <typename Visit>
void for_each_reference(Show& s, Visit visit) {
  visit(Part::show_parts, s.parts);
}

template <typename Visit>
void for_each_reference(ShowPart& p, Visit visit) {
  visit_index(Part::strings, p.text, visit);
  visit_index(Part::exprs, p.value, visit);
  visit_index(Part::types, p.type, visit);
  visit_index(Part::exprs, p.condition, visit);
}

template <typename Visit>
void for_each_reference(Choice& c, Visit visit) {
  visit_index(Part::strings, c.name, visit);
  visit(Part::choice_rows, c.rows);
}

template <typename Visit>
void for_each_reference(ChoiceRow& r, Visit visit) {
  for (ExprId& key : r.keys) {
    visit_index(Part::exprs, key, visit);
  }
  visit_index(Part::types, r.type, visit);
}

template <typename Visit>
void for_each_reference(Param& p, Visit visit) {
  visit_index(Part::strings, p.name, visit);
  visit_index(Part::types, p.type, visit);
  visit_index(Part::exprs, p.condition, visit);
  visit_index(Part::exprs, p.when, visit);
}

template <typename Visit>
void for_each_reference(Signature& s, Visit visit) {
  visit_index(Part::strings, s.shown, visit);
  visit(Part::params, s.params);
  visit_index(Part::types, s.result, visit);
  visit_index(Part::types, s.note, visit);
  visit_index(Part::strings, s.note_prefix, visit);
  visit_index(Part::exprs, s.selector, visit);
  visit(Part::signature_rows, s.rows);
  visit_index(Part::signatures, s.otherwise, visit);
}

template <typename Visit>
void for_each_reference(SignatureRow& r, Visit visit) {
  visit_index(Part::signatures, r.signature, visit);
  visit_index(Part::strings, r.driver, visit);
}

template <typename Visit>
void for_each_reference(Call& c, Visit visit) {
  visit_index(Part::strings, c.name, visit);
  visit_index(Part::signatures, c.signature, visit);
  visit_index(Part::exprs, c.redirect, visit);
  visit_index(Part::params, c.redirect_args, visit);
  visit(Part::redirects, c.redirects);
}

template <typename Visit>
void for_each_reference(Redirect& r, Visit visit) {
  visit_index(Part::calls, r.call, visit);
}

template <typename Visit>
void for_each_reference(Function& f, Visit visit) {
  visit_index(Part::strings, f.library, visit);
  visit_index(Part::strings, f.name, visit);
  visit_index(Part::calls, f.call, visit);
}

template <typename Visit>
void for_each_reference(NumberedCall& n, Visit visit) {
  visit_index(Part::calls, n.call, visit);
}

}  // namespace tracer::spec
