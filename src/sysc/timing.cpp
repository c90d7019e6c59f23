#include "sysc/timing.h"

#include <optional>

namespace tracer::sysc {

using spec::Direction;
using spec::ExprOp;
using spec::none;
using spec::TypeKind;

namespace {

struct Needs {
  bool exit = false;   ///< something that only the exit knows
  bool entry = false;  ///< fields that show old and new values: a copy from entry is wanted

  Needs& operator|=(const Needs& other) {
    exit = exit || other.exit;
    entry = entry || other.entry;
    return *this;
  }
};

class Timing {
 public:
  explicit Timing(spec::TableSet& set)
      : set_(set), struct_needs_(set.structs.size()), choice_needs_(set.choices.size()) {}

  void run() {
    for (auto& param : set_.params) {
      if (param.type == none) {
        continue;
      }
      const auto needs = of_type(param.type);
      param.at_exit = param.late || needs.exit || of_expr(param.condition) || of_expr(param.when);
      const auto& type = set_.types[param.type];
      param.saved = type.kind == TypeKind::pointer && (type.direction == Direction::inout || needs.entry || param.was);
    }
    for (const auto& expr : set_.exprs) {
      if (expr.op == ExprOp::was) {
        set_.params[expr.a].saved = true;
      }
    }
  }

 private:
  /// Whether the value of an expression is known only at exit.
  bool of_expr(spec::ExprId id) {
    if (id == none) {
      return false;
    }
    const auto& e = set_.exprs[id];
    switch (e.op) {
      case ExprOp::ret:
      case ExprOp::ok:
        return true;
      case ExprOp::deref: {
        const auto type = set_.params[e.a].type;
        return type != none && set_.types[type].direction != Direction::in;
      }
      case ExprOp::netlink:
      case ExprOp::sibling:
      case ExprOp::generic:
        return of_expr(e.a);
      case ExprOp::align:
      case ExprOp::bit_and:
      case ExprOp::bit_or:
      case ExprOp::equal:
      case ExprOp::not_equal:
      case ExprOp::less:
      case ExprOp::greater:
      case ExprOp::add:
      case ExprOp::subtract:
      case ExprOp::multiply:
        return of_expr(e.a) || of_expr(e.b);
      default:
        return false;
    }
  }

  Needs of_type(spec::TypeId id) {
    if (id == none) {
      return {};
    }
    const auto& type = set_.types[id];
    Needs needs;
    needs.exit = of_expr(type.length) || of_expr(type.budget) || of_expr(type.sized_by) ||
                 (type.kind == TypeKind::pointer && type.direction != Direction::in);
    for (spec::Index i = type.args.first; i < type.args.first + type.args.count; ++i) {
      needs.exit = needs.exit || of_expr(set_.expr_lists[i]);
    }
    needs |= of_type(type.target);
    if (type.kind == TypeKind::structure) {
      needs |= of_struct(type.index);
    } else if (type.kind == TypeKind::choice) {
      needs |= of_choice(type.index);
    }
    return needs;
  }

  /// A struct that is met again inside itself adds nothing that its first visit does not find.
  Needs of_struct(spec::Index index) {
    if (struct_needs_[index]) {
      return *struct_needs_[index];
    }
    struct_needs_[index] = Needs{};
    Needs needs;
    const auto& structure = set_.structs[index];
    needs.exit = of_expr(structure.sized_by) || of_expr(structure.step);
    for (spec::Index i = structure.fields.first; i < structure.fields.first + structure.fields.count; ++i) {
      const auto& field = set_.fields[i];
      if (field.after) {
        needs.entry = true;  // the pointer as it stood at entry
        continue;
      }
      needs.exit = needs.exit || of_expr(field.condition) || of_expr(field.when);
      needs.entry = needs.entry || field.direction == Direction::inout;
      needs |= of_type(field.type);
    }
    struct_needs_[index] = needs;
    return needs;
  }

  Needs of_choice(spec::Index index) {
    if (choice_needs_[index]) {
      return *choice_needs_[index];
    }
    choice_needs_[index] = Needs{};
    Needs needs;
    const auto rows = set_.choices[index].rows;
    for (spec::Index i = rows.first; i < rows.first + rows.count; ++i) {
      needs |= of_type(set_.choice_rows[i].type);
    }
    choice_needs_[index] = needs;
    return needs;
  }

  spec::TableSet& set_;
  std::vector<std::optional<Needs>> struct_needs_;
  std::vector<std::optional<Needs>> choice_needs_;
};

}  // namespace

void derive_timing(spec::TableSet& set) {
  Timing(set).run();
}

}  // namespace tracer::sysc
