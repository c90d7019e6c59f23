// Tables::verify checks what a decoder relies on, for tables made at run time.
#include <fmt/core.h>
#include <string>
#include <utility>
#include <vector>

#include "spec/references.h"
#include "spec/spec.h"

namespace tracer::spec {

namespace {

enum class Mark : std::uint8_t { none, open, done };

class Verifier {
 public:
  explicit Verifier(const Tables& tables) : t_(tables), marks_(tables.types.size(), Mark::none) {}

  std::string run() {
    if (!t_.strings.empty() && t_.strings.back() != '\0') {
      fail("strings", 0, "no NUL at the end");
    }
    exprs();
    sets();
    types();
    structs();
    shows();
    choices();
    signatures();
    calls();
    for (Index i = 0; i < t_.types.size() && failure_.empty(); ++i) {
      acyclic(i, 0);
    }
    return failure_;
  }

 private:
  static constexpr unsigned deepest_nesting = 64;

  void fail(const char* array, Index index, const char* what) {
    if (failure_.empty()) {
      failure_ = fmt::format("{}[{}]: {}", array, index, what);
    }
  }
  void expect(bool holds, const char* array, Index index, const char* what) {
    if (!holds) {
      fail(array, index, what);
    }
  }
  [[nodiscard]] bool text(StringRef ref) const { return ref < t_.strings.size(); }
  [[nodiscard]] bool text_or_none(StringRef ref) const { return ref == none || text(ref); }
  template <typename T>
  static bool in(std::span<const T> all, Index index) {
    return index < all.size();
  }
  template <typename T>
  static bool in_or_none(std::span<const T> all, Index index) {
    return index == none || index < all.size();
  }
  template <typename T>
  static bool in(std::span<const T> all, Range range) {
    return range.first <= all.size() && range.count <= all.size() - range.first;
  }

  void exprs() {
    for (Index i = 0; i < t_.exprs.size(); ++i) {
      const auto& e = t_.exprs[i];
      bool good = false;
      switch (e.op) {
        case ExprOp::variable_literal:
          good = in(t_.abi_values, Range{e.a, abi_count});
          break;
        case ExprOp::arg:
        case ExprOp::deref:
          good = in(t_.params, e.a);
          break;
        case ExprOp::field:
        case ExprOp::deref_field:
          good = in(t_.fields, e.a);
          break;
        case ExprOp::member:
          good = in(t_.fields, e.a) && in(t_.fields, e.b);
          break;
        case ExprOp::lookup:
          good = e.a < i && e.b < lookup_names.size();
          break;
        case ExprOp::sibling:
          good = e.a < i;
          break;
        case ExprOp::option:
          good = e.a < option_names.size();
          break;
        case ExprOp::outer:
          good = text(e.a);
          break;
        default:
          // Operands come before the expressions that use them, so there are no cycles.
          good = is_leaf(e.op) || (e.op <= ExprOp::shift_right && e.a < i && e.b < i);
      }
      expect(good, "exprs", i, "an operand is out of range");
    }
    for (Index i = 0; i < t_.expr_lists.size(); ++i) {
      expect(in(t_.exprs, t_.expr_lists[i]), "expr_lists", i, "no such expression");
    }
  }

  void sets() {
    for (Index i = 0; i < t_.constants.size(); ++i) {
      expect(text(t_.constants[i].name), "constants", i, "no name");
    }
    for (Index i = 0; i < t_.groups.size(); ++i) {
      const auto& group = t_.groups[i];
      expect(in(t_.constants, group.constants) && group.shift < 64 && text_or_none(group.label) &&
                 text_or_none(group.unknown),
             "groups", i, "constants, shift or label out of range");
    }
    for (Index i = 0; i < t_.sets.size(); ++i) {
      const auto& set = t_.sets[i];
      expect(text(set.name) && text_or_none(set.unknown) && in(t_.groups, set.groups), "sets", i,
             "a name or the groups out of range");
      // A chain of sets ends, as each has a higher number than the one before.
      expect(in_or_none(t_.sets, set.special) && (set.special == none || set.special > i) && text_or_none(set.driver),
             "sets", i, "a set of a device out of range");
    }
  }

  void types() {
    for (Index i = 0; i < t_.types.size(); ++i) {
      const auto& type = t_.types[i];
      expect(text_or_none(type.name) && text_or_none(type.brief), "types", i, "a name out of range");
      expect(in_or_none(t_.sets, type.set) && in_or_none(t_.types, type.target), "types", i,
             "set or target out of range");
      expect(in_or_none(t_.exprs, type.length) && in_or_none(t_.exprs, type.budget) &&
                 in_or_none(t_.exprs, type.sized_by) && in(t_.expr_lists, type.args),
             "types", i, "an expression out of range");
      expect(type.width == register_wide || type.width == long_double_wide ||
                 (type.width <= 8 && (type.width & (type.width - 1)) == 0),
             "types", i, "a width that is none of 0, 1, 2, 4, 8");
      expect(type.bit_offset + unsigned{type.bit_count} <= 64 && (type.bit_count != 0 || type.bit_offset == 0), "types",
             i, "bits out of range");
      const bool has_target = type.kind == TypeKind::pointer || type.kind == TypeKind::array;
      expect(!has_target || type.target != none, "types", i, "no target");
      if (type.kind == TypeKind::structure) {
        expect(in(t_.structs, type.index) && t_.structs[type.index].param_count == type.args.count, "types", i,
               "no such struct, or other values than it has parameters");
      } else if (type.kind == TypeKind::choice) {
        expect(in(t_.choices, type.index) && t_.choices[type.index].param_count == type.args.count, "types", i,
               "no such table, or other values than it has parameters");
      } else if (type.kind == TypeKind::scalar) {
        expect(in_or_none(t_.shows, type.index), "types", i, "no such form");
      } else if (type.kind == TypeKind::custom) {
        expect(in(t_.customs, type.custom) && text(t_.customs[type.custom]), "types", i, "no decoder's name");
      } else {
        expect(type.kind <= TypeKind::custom, "types", i, "an unknown kind");
      }
    }
  }

  void structs() {
    for (Index i = 0; i < t_.structs.size(); ++i) {
      const auto& structure = t_.structs[i];
      expect(text(structure.name) && text_or_none(structure.short_end) && in(t_.fields, structure.fields), "structs", i,
             "name or fields out of range");
      expect(in_or_none(t_.exprs, structure.sized_by) && in_or_none(t_.exprs, structure.step), "structs", i,
             "an expression out of range");
      expect(structure.show == no_show || structure.show < t_.shows.size(), "structs", i, "no such form");
      expect(structure.kind != StructKind::stream || structure.step != none, "structs", i, "a stream without a step");
    }
    for (Index i = 0; i < t_.fields.size(); ++i) {
      const auto& field = t_.fields[i];
      expect(text(field.name) && in(t_.types, field.type), "fields", i, "name or type out of range");
      expect(in_or_none(t_.exprs, field.condition) && in_or_none(t_.exprs, field.when), "fields", i,
             "an expression out of range");
    }
  }

  void shows() {
    for (Index i = 0; i < t_.shows.size(); ++i) {
      expect(in(t_.show_parts, t_.shows[i].parts), "shows", i, "parts out of range");
    }
    for (Index i = 0; i < t_.show_parts.size(); ++i) {
      const auto& part = t_.show_parts[i];
      // The types of parts are scalars without a form of their own, so forms do not nest.
      const bool is_good =
          part.text != none || (in(t_.exprs, part.value) && in(t_.types, part.type) &&
                                t_.types[part.type].kind == TypeKind::scalar && t_.types[part.type].index == none);
      expect(text_or_none(part.text) && is_good && in_or_none(t_.exprs, part.condition), "show_parts", i,
             "a text, a value or a type out of range");
    }
  }

  void choices() {
    for (Index i = 0; i < t_.choices.size(); ++i) {
      expect(text(t_.choices[i].name) && in(t_.choice_rows, t_.choices[i].rows) && t_.choices[i].param_count <= 8,
             "choices", i, "name or rows out of range");
    }
    for (Index i = 0; i < t_.choice_rows.size(); ++i) {
      const auto& row = t_.choice_rows[i];
      expect(in_or_none(t_.types, row.type), "choice_rows", i, "no such type");
      for (const auto key : row.keys) {
        expect(key == none || (in(t_.exprs, key) && t_.exprs[key].op <= ExprOp::variable_literal), "choice_rows", i,
               "a key that is no literal");
      }
    }
  }

  void signatures() {
    for (Index i = 0; i < t_.params.size(); ++i) {
      const auto& param = t_.params[i];
      expect(text(param.name) && in_or_none(t_.types, param.type), "params", i, "name or type out of range");
      expect(in_or_none(t_.exprs, param.condition) && in_or_none(t_.exprs, param.when), "params", i,
             "an expression out of range");
      for (const auto slot : param.slot) {
        expect(slot < most_parameters, "params", i, "a slot beyond the last argument");
      }
    }
    for (Index i = 0; i < t_.signatures.size(); ++i) {
      const auto& signature = t_.signatures[i];
      expect(in(t_.params, signature.params) && in_or_none(t_.types, signature.result) &&
                 in_or_none(t_.types, signature.note) && text_or_none(signature.note_prefix),
             "signatures", i, "parameters, result or note out of range");
      expect(in_or_none(t_.exprs, signature.selector) && in(t_.signature_rows, signature.rows), "signatures", i,
             "selector or rows out of range");
      // A row has more parameters than its signature and comes after it, so following rows terminates.
      expect(signature.otherwise == none || (in(t_.signatures, signature.otherwise) && signature.otherwise > i),
             "signatures", i, "'else' out of range");
      if (!failure_.empty()) {
        return;
      }
      std::uint64_t last = 0;
      for (const auto& row : Tables::slice(t_.signature_rows, signature.rows)) {
        expect(in(t_.signatures, row.signature) && row.signature > i && row.value >= last, "signatures", i,
               "a row out of range or out of order");
        last = row.value;
      }
    }
  }

  void calls() {
    for (Index i = 0; i < t_.calls.size(); ++i) {
      const auto& call = t_.calls[i];
      expect(text(call.name) && in(t_.signatures, call.signature), "calls", i, "name or signature out of range");
      expect(in_or_none(t_.exprs, call.redirect) && in_or_none(t_.params, call.redirect_args) &&
                 in(t_.redirects, call.redirects),
             "calls", i, "the redirection is out of range");
      if (!failure_.empty()) {
        return;
      }
      for (const auto& row : Tables::slice(t_.redirects, call.redirects)) {
        expect(in(t_.calls, row.call) && t_.calls[row.call].redirect == none, "calls", i,
               "redirected out of range or twice");
      }
    }
    const auto key = [this](const Function& row) { return std::pair(t_.text(row.library), t_.text(row.name)); };
    for (Index i = 0; i < t_.functions.size() && failure_.empty(); ++i) {
      const auto& row = t_.functions[i];
      expect(text(row.library) && text(row.name) && in(t_.calls, row.call), "functions", i, "out of range");
      expect(!failure_.empty() || i == 0 || key(t_.functions[i - 1]) < key(row), "functions", i, "out of order");
    }
    for (const auto& rows : t_.numbers) {
      for (Index i = 0; i < rows.size(); ++i) {
        expect(in_or_none(t_.calls, rows[i].call) && (i == 0 || rows[i - 1].number < rows[i].number), "numbers", i,
               "call out of range, or numbers out of order");
      }
    }
  }

  /// Checks that a type contains itself only through a pointer or in a stream. The tracee's bytes limit the depth of
  /// records, and so does the decoder.
  void acyclic(TypeId id, unsigned depth) {
    if (!failure_.empty() || marks_[id] == Mark::done) {
      return;
    }
    if (marks_[id] == Mark::open || depth > deepest_nesting) {
      fail("types", id, "contains itself, or nests too deep");
      return;
    }
    marks_[id] = Mark::open;
    const auto& type = t_.types[id];
    if (type.kind == TypeKind::structure && t_.structs[type.index].kind != StructKind::stream) {
      for (const auto& field : Tables::slice(t_.fields, t_.structs[type.index].fields)) {
        acyclic(field.type, depth + 1);
      }
    } else if (type.kind == TypeKind::choice) {
      for (const auto& row : Tables::slice(t_.choice_rows, t_.choices[type.index].rows)) {
        if (row.type != none) {
          acyclic(row.type, depth + 1);
        }
      }
    } else if (type.target != none && type.kind != TypeKind::pointer) {
      acyclic(type.target, depth + 1);
    }
    marks_[id] = Mark::done;
  }

  const Tables& t_;
  std::vector<Mark> marks_;
  std::string failure_;
};

}  // namespace

std::string Tables::verify() const {
  return Verifier(*this).run();
}

}  // namespace tracer::spec
