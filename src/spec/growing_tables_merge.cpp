// Adds whole tables to others: every index moves by as much as there was before.
#include <algorithm>
#include <utility>

#include "spec/growing_tables.h"

namespace tracer::spec {

namespace {

class Mover {
 public:
  explicit Mover(const TableSet& into)
      : strings_(static_cast<Index>(into.strings.size())),
        exprs_(count(into.exprs)),
        lists_(count(into.expr_lists)),
        abi_values_(count(into.abi_values)),
        constants_(count(into.constants)),
        groups_(count(into.groups)),
        sets_(count(into.sets)),
        customs_(count(into.customs)),
        types_(count(into.types)),
        structs_(count(into.structs)),
        fields_(count(into.fields)),
        choices_(count(into.choices)),
        choice_rows_(count(into.choice_rows)),
        params_(count(into.params)),
        signatures_(count(into.signatures)),
        signature_rows_(count(into.signature_rows)),
        calls_(count(into.calls)),
        redirects_(count(into.redirects)) {}

  Expr moved(Expr e) const {
    switch (e.op) {
      case ExprOp::variable_literal:
        return with(e, abi_values_, 0);
      case ExprOp::arg:
      case ExprOp::deref:
      case ExprOp::was:
        return with(e, params_, 0);
      case ExprOp::field:
      case ExprOp::deref_field:
        return with(e, fields_, 0);
      case ExprOp::member:
        return with(e, fields_, fields_);
      case ExprOp::outer:
        return with(e, strings_, 0);
      case ExprOp::netlink:
        return with(e, exprs_, 0);
      case ExprOp::literal:
      case ExprOp::param:
      case ExprOp::ret:
      case ExprOp::ok:
      case ExprOp::rest:
      case ExprOp::word:
      case ExprOp::nth:
      case ExprOp::full:
      case ExprOp::rings:
      case ExprOp::everything:
        return e;
      default:  // of two others
        return with(e, exprs_, exprs_);
    }
  }
  ExprId moved_list_entry(ExprId id) const { return move(id, exprs_); }
  StringRef moved_name(StringRef name) const { return move(name, strings_); }
  Constant moved(Constant c) const {
    c.name = move(c.name, strings_);
    c.number_set = move(c.number_set, sets_);
    return c;
  }
  ConstantGroup moved(ConstantGroup g) const {
    g.label = move(g.label, strings_);
    g.unknown = move(g.unknown, strings_);
    g.constants.first += constants_;
    return g;
  }
  ConstantSet moved(ConstantSet s) const {
    s.name = move(s.name, strings_);
    s.unknown = move(s.unknown, strings_);
    s.groups.first += groups_;
    return s;
  }
  Type moved(Type t) const {
    t.name = move(t.name, strings_);
    t.custom = move(t.custom, customs_);
    t.brief = move(t.brief, strings_);
    t.set = move(t.set, sets_);
    t.target = move(t.target, types_);
    t.length = move(t.length, exprs_);
    t.budget = move(t.budget, exprs_);
    t.sized_by = move(t.sized_by, exprs_);
    t.index = move(t.index, t.kind == TypeKind::choice ? choices_ : structs_);
    t.args.first += lists_;
    return t;
  }
  Struct moved(Struct s) const {
    s.name = move(s.name, strings_);
    s.sized_by = move(s.sized_by, exprs_);
    s.step = move(s.step, exprs_);
    s.fields.first += fields_;
    return s;
  }
  Field moved(Field f) const {
    f.name = move(f.name, strings_);
    f.type = move(f.type, types_);
    f.condition = move(f.condition, exprs_);
    f.when = move(f.when, exprs_);
    f.at = move(f.at, exprs_);
    return f;
  }
  Choice moved(Choice c) const {
    c.name = move(c.name, strings_);
    c.rows.first += choice_rows_;
    return c;
  }
  ChoiceRow moved(ChoiceRow r) const {
    for (ExprId& key : r.keys) {
      key = move(key, exprs_);
    }
    r.type = move(r.type, types_);
    return r;
  }
  Param moved(Param p) const {
    p.name = move(p.name, strings_);
    p.type = move(p.type, types_);
    p.condition = move(p.condition, exprs_);
    p.when = move(p.when, exprs_);
    return p;
  }
  Signature moved(Signature s) const {
    s.shown = move(s.shown, strings_);
    s.params.first += params_;
    s.result = move(s.result, types_);
    s.note = move(s.note, types_);
    s.note_prefix = move(s.note_prefix, strings_);
    s.selector = move(s.selector, exprs_);
    s.rows.first += signature_rows_;
    s.otherwise = move(s.otherwise, signatures_);
    return s;
  }
  SignatureRow moved(SignatureRow r) const {
    r.signature = move(r.signature, signatures_);
    return r;
  }
  Call moved(Call c) const {
    c.name = move(c.name, strings_);
    c.signature = move(c.signature, signatures_);
    c.redirect = move(c.redirect, exprs_);
    c.redirect_args = move(c.redirect_args, params_);
    c.redirects.first += redirects_;
    return c;
  }
  Redirect moved(Redirect r) const {
    r.call = move(r.call, calls_);
    return r;
  }
  Function moved(Function f) const {
    f.library = move(f.library, strings_);
    f.name = move(f.name, strings_);
    f.call = move(f.call, calls_);
    return f;
  }

 private:
  template <typename T>
  static Index count(const std::vector<T>& entries) {
    return static_cast<Index>(entries.size());
  }
  static Index move(Index index, Index by) { return index == none ? none : index + by; }
  static Expr with(Expr e, Index a, Index b) {
    e.a = move(e.a, a);
    e.b = move(e.b, b);
    return e;
  }

  Index strings_, exprs_, lists_, abi_values_, constants_, groups_, sets_, customs_, types_, structs_, fields_,
      choices_, choice_rows_, params_, signatures_, signature_rows_, calls_, redirects_;
};

}  // namespace

void GrowingTables::add(const TableSet& others) {
  begin();
  const Mover mover(set_);
  const auto fits = [&](const auto& into, const auto& from) {
    full_ = full_ || into.capacity() - into.size() < from.size();
  };
  fits(set_.strings, others.strings);
  fits(set_.exprs, others.exprs);
  fits(set_.constants, others.constants);
  fits(set_.groups, others.groups);
  fits(set_.sets, others.sets);
  fits(set_.types, others.types);
  fits(set_.structs, others.structs);
  fits(set_.fields, others.fields);
  fits(set_.params, others.params);
  fits(set_.signatures, others.signatures);
  fits(set_.calls, others.calls);
  if (full_) {
    return;
  }
  const auto move_all = [&](auto& into, const auto& from) {
    for (const auto& entry : from) {
      into.push_back(mover.moved(entry));
    }
  };
  set_.strings += others.strings;
  move_all(set_.exprs, others.exprs);
  for (const ExprId id : others.expr_lists) {
    set_.expr_lists.push_back(mover.moved_list_entry(id));
  }
  set_.abi_values.insert(set_.abi_values.end(), others.abi_values.begin(), others.abi_values.end());
  move_all(set_.constants, others.constants);
  move_all(set_.groups, others.groups);
  move_all(set_.sets, others.sets);
  for (const StringRef name : others.customs) {
    set_.customs.push_back(mover.moved_name(name));
  }
  move_all(set_.types, others.types);
  move_all(set_.structs, others.structs);
  move_all(set_.fields, others.fields);
  move_all(set_.choices, others.choices);
  move_all(set_.choice_rows, others.choice_rows);
  move_all(set_.params, others.params);
  move_all(set_.signatures, others.signatures);
  move_all(set_.signature_rows, others.signature_rows);
  move_all(set_.calls, others.calls);
  move_all(set_.redirects, others.redirects);
  move_all(set_.functions, others.functions);
  tables_ = set_.view();
  std::stable_sort(set_.functions.begin(), set_.functions.end(), [&](const Function& a, const Function& b) {
    return std::pair(tables_.text(a.library), tables_.text(a.name)) <
           std::pair(tables_.text(b.library), tables_.text(b.name));
  });
}

}  // namespace tracer::spec
