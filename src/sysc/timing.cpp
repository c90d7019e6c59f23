#include "sysc/timing.h"

#include <optional>

namespace tracer::sysc {

using spec::Direction;
using spec::ExprOp;
using spec::none;
using spec::TypeKind;

namespace {

struct Needs {
  bool exit = false;   ///< a value that is known only at exit
  bool entry = false;  ///< fields that print old and new values, which need a copy from entry

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
    for (spec::ParamId id = 0; id < set_.params.size(); ++id) {
      auto& param = set_.params[id];
      if (param.type == none) {
        continue;
      }
      const auto needs = of_type(param.type);
      param.at_exit = param.late || needs.exit || of_expr(param.condition) || of_expr(param.when);
      const auto& type = set_.types[param.type];
      param.saved = type.kind == TypeKind::pointer && (type.direction == Direction::inout || needs.entry);
      // `when 1`: it is printed whether or not the call succeeds.
      param.begins = param.begins && type.kind == TypeKind::pointer && type.direction == Direction::out &&
                     param.when != none && set_.exprs[param.when].op == ExprOp::literal && begins(type.target, id);
    }
  }

 private:
  /// Returns whether a field prints its value at entry and, if the call changes it, the new one at exit.
  [[nodiscard]] bool shows_twice(const spec::Field& field) const {
    const TypeKind kind = set_.types[field.type].kind;
    return field.direction == Direction::inout && (kind == TypeKind::scalar || kind == TypeKind::custom);
  }

  /// Returns whether a structure, or one that a table chooses, has leading fields that can be printed at entry.
  /// `own`: the parameter that points to it.
  bool begins(spec::TypeId id, spec::ParamId own) {
    const auto& type = set_.types[id];
    for (spec::Index i = type.args.first; i < type.args.first + type.args.count; ++i) {
      if (of_expr(set_.expr_lists[i], own)) {
        return false;
      }
    }
    if (type.kind == TypeKind::structure) {
      return set_.structs[type.index].has_beginning;
    }
    if (type.kind != TypeKind::choice) {
      return false;
    }
    const auto rows = set_.choices[type.index].rows;
    for (spec::Index i = rows.first; i < rows.first + rows.count; ++i) {
      const auto row = set_.choice_rows[i].type;
      if (row != none && set_.types[row].kind == TypeKind::structure && begins(row, own)) {
        return true;
      }
    }
    return false;
  }

  /// Returns whether the value of an expression is known only at exit. The target of `known` is known at entry.
  bool of_expr(spec::ExprId id, spec::ParamId known = none) {
    if (id == none) {
      return false;
    }
    const auto& e = set_.exprs[id];
    switch (e.op) {
      case ExprOp::ret:
      case ExprOp::ok:
        return true;
      case ExprOp::deref: {
        if (e.a == known) {
          return false;
        }
        const auto type = set_.params[e.a].type;
        return type != none && set_.types[type].direction != Direction::in;
      }
      case ExprOp::lookup:
      case ExprOp::sibling:
        return of_expr(e.a, known);
      case ExprOp::align:
      case ExprOp::minimum:
      case ExprOp::bit_and:
      case ExprOp::bit_or:
      case ExprOp::equal:
      case ExprOp::not_equal:
      case ExprOp::less:
      case ExprOp::greater:
      case ExprOp::add:
      case ExprOp::subtract:
      case ExprOp::multiply:
      case ExprOp::divide:
      case ExprOp::shift_right:
        return of_expr(e.a, known) || of_expr(e.b, known);
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

  /// A struct inside itself has no further needs, so recursion ends at it.
  Needs of_struct(spec::Index index) {
    if (struct_needs_[index]) {
      return *struct_needs_[index];
    }
    struct_needs_[index] = Needs{};
    Needs needs;
    auto& structure = set_.structs[index];
    needs.exit = of_expr(structure.sized_by) || of_expr(structure.step);
    bool any_shown = false;
    bool begins_at_entry = false;
    for (spec::Index i = structure.fields.first; i < structure.fields.first + structure.fields.count; ++i) {
      auto& field = set_.fields[i];
      if (field.late) {
        needs.entry = true;  // the value of the pointer at entry
        continue;
      }
      Needs own = of_type(field.type);
      own.exit = own.exit || of_expr(field.condition) || of_expr(field.when);
      own.entry = own.entry || field.direction == Direction::inout;
      field.at_exit = own.exit || own.entry || field.direction == Direction::out;
      needs |= own;
      if (!field.hidden) {
        begins_at_entry = any_shown ? begins_at_entry : !field.at_exit || shows_twice(field);
        structure.has_beginning = structure.has_beginning || (begins_at_entry && field.at_exit);
        any_shown = true;
      }
    }
    structure.has_beginning = structure.has_beginning && structure.kind == spec::StructKind::plain &&
                              !structure.is_list && !of_expr(structure.sized_by);
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
