#include "sysc/capture_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "sysc/expr_text.h"

namespace tracer::sysc {

using namespace spec;

namespace {

constexpr Abi shown_abi = Abi::x86_64;

class Planner {
 public:
  explicit Planner(const Tables& tables) : t_(tables) {}

  void signature(Index index, const std::string& label) {
    const auto& signature = t_.signatures[index];
    out_ += label + '(';
    const auto params = Tables::slice(t_.params, signature.params);
    for (std::size_t i = 0; i < params.size(); ++i) {
      out_ += (i == 0 ? "" : ", ") + text(params[i].name);
    }
    out_ += ")\n";
    const auto waiting = std::find_if(params.begin(), params.end(), [](const Param& p) { return p.at_exit; });
    out_ += waiting == params.end() ? "  unfinished after all arguments\n"
                                    : "  unfinished before " + text(waiting->name) + "\n";
    for (const auto& param : params) {
      if (param.type != none) {
        parameter(param);
      }
    }
    rows(signature, label);
  }

  std::string take() { return std::move(out_); }

 private:
  [[nodiscard]] std::string text(StringRef ref) const { return std::string(t_.text(ref)); }

  void rows(const Signature& signature, const std::string& label) {
    std::vector<Index> seen;
    for (const auto& row : Tables::slice(t_.signature_rows, signature.rows)) {
      if (std::find(seen.begin(), seen.end(), row.signature) == seen.end()) {
        seen.push_back(row.signature);
        this->signature(row.signature, label + ' ' + key_name(signature, row));
      }
    }
    if (signature.otherwise != none) {
      this->signature(signature.otherwise, label + " else");
    }
  }

  /// The names of a row's values, if the selector's type has names.
  std::string key_name(const Signature& signature, const SignatureRow& row) {
    std::string names;
    for (const auto& other : Tables::slice(t_.signature_rows, signature.rows)) {
      if (other.signature == row.signature) {
        names += (names.empty() ? "" : "|") + value_name(selector_set(signature.selector), other);
      }
    }
    return names;
  }

  SetId selector_set(ExprId id) const {
    const auto& e = t_.exprs[id];
    if (e.op == ExprOp::arg) {
      const auto type = t_.params[e.a].type;
      return type == none ? none : t_.types[type].set;
    }
    return e.op >= ExprOp::bit_and ? selector_set(e.a) : none;
  }

  std::string value_name(SetId set, const SignatureRow& row) const {
    if (set != none) {
      for (const auto& group : Tables::slice(t_.groups, t_.sets[set].groups)) {
        for (const auto& constant : Tables::slice(t_.constants, group.constants)) {
          if (constant.value == row.value && (constant.abis & row.abis) != 0) {
            return text(constant.name);
          }
        }
      }
    }
    return std::to_string(row.value);
  }

  void parameter(const Param& param) {
    const auto& type = t_.types[param.type];
    if (type.kind != TypeKind::pointer) {
      return;
    }
    std::string suffix;
    if (param.condition != none) {
      suffix += " if " + expr_text(t_, param.condition);
    }
    if (param.when != none) {
      suffix += " when " + expr_text(t_, param.when);
    }
    const bool entry = !param.at_exit || param.saved || type.direction == Direction::inout;
    const bool exit = param.at_exit || t_.shows_after(type.target);
    if (entry) {
      line("entry", text(param.name), type, suffix);
    }
    if (entry && !(param.at_exit && param.saved)) {  // of a copy that is only compared, nothing is followed
      inner("entry", text(param.name), type.target, 0);
    }
    if (exit) {
      pointed("exit", text(param.name), type, suffix, 0);
    }
  }

  /// One line for what a pointer leads to, and one for each pointer inside that.
  void pointed(const char* when, const std::string& path, const Type& pointer, const std::string& suffix,
               unsigned depth) {
    if (depth <= deepest) {
      line(when, path, pointer, suffix);
      inner(when, path, pointer.target, depth);
    }
  }

  void line(const char* when, const std::string& path, const Type& pointer, const std::string& suffix) {
    out_ += "  " + std::string(when) + std::string(6 - std::string_view(when).size(), ' ') + path + ": " +
            extent(pointer.target);
    if (pointer.sized_by != none) {
      out_ += ", " + expr_text(t_, pointer.sized_by) + " bytes";
    }
    out_ += suffix + '\n';
  }

  void inner(const char* when, const std::string& path, TypeId id, unsigned depth) {
    const auto& type = t_.types[id];
    if (type.kind == TypeKind::array) {
      const auto& element = t_.types[type.target];
      if (element.kind == TypeKind::pointer) {
        pointed(when, path + "[]", element, "", depth + 1);
      } else {
        inner(when, path + "[]", type.target, depth);
      }
    } else if (type.kind == TypeKind::pointer) {
      pointed(when, "*" + path, type, "", depth + 1);
    } else if (type.kind == TypeKind::structure) {
      for (const auto& field : Tables::slice(t_.fields, t_.structs[type.index].fields)) {
        const auto& field_type = t_.types[field.type];
        const auto name = path + "." + text(field.name);
        // `after` fields are pointers that are followed at exit; all others when their struct is read.
        const bool at_exit = std::string_view(when) == "exit";
        if (field_type.kind == TypeKind::pointer && (!field.after || at_exit)) {
          pointed(when, name, field_type, field.condition == none ? "" : " if " + expr_text(t_, field.condition),
                  depth + 1);
        } else if (field_type.kind == TypeKind::structure || field_type.kind == TypeKind::array) {
          inner(when, name, field.type, depth);
        }
      }
    }
  }

  /// What and how much: `timespec, 16 bytes`, `text`, `fd, ret times`.
  std::string extent(TypeId id) const {
    const auto& type = t_.types[id];
    auto name = type.name == none ? std::string("value") : text(type.name);
    switch (type.kind) {
      case TypeKind::scalar:
        return fmt::format("{}, {} bytes", name, spec::bytes_of(type.width, shown_abi));
      case TypeKind::pointer:
        return "pointer";
      case TypeKind::cstr:
        return type.length_kind == LengthKind::none ? "text up to NUL" : "text" + length(type);
      case TypeKind::bytes:
        return name + length(type);
      case TypeKind::array: {
        const auto& element = t_.types[type.target];
        return (element.name == none ? "value" : text(element.name)) + length(type);
      }
      case TypeKind::structure: {
        const auto& structure = t_.structs[type.index];
        const auto size = fmt::format("{} bytes", structure.layout.size[index_of(shown_abi)]);
        if (structure.sized_by != none) {
          return name + ", " + expr_text(t_, structure.sized_by) + " bytes";
        }
        return name + ", " + size + (structure.variable ? " and more" : "");
      }
      case TypeKind::choice:
        return name + ", by value";
      case TypeKind::custom:
        return type.target == none ? "custom " + name : "custom " + name + " over " + extent(type.target);
    }
    return name;
  }

  [[nodiscard]] std::string length(const Type& type) const {
    std::string out;
    switch (type.length_kind) {
      case LengthKind::none:
        break;
      case LengthKind::count:
        out = ", " + expr_text(t_, type.length) + (type.kind == TypeKind::array ? " elements" : " bytes");
        break;
      case LengthKind::byte_count:
        out = ", " + expr_text(t_, type.length) + " bytes";
        break;
      case LengthKind::until_zero:
        out = " until 0";
    }
    if (type.budget != none) {
      out += " of " + expr_text(t_, type.budget);
    }
    return type.max == 0 ? out : fmt::format("{}, at most {}", out, type.max);
  }

  static constexpr unsigned deepest = 6;

  const Tables& t_;
  std::string out_;
};

}  // namespace

std::string capture_plan(const Tables& tables, std::string_view name) {
  Planner planner(tables);
  std::vector<Index> seen;
  for (const auto& call : tables.calls) {
    if (tables.text(call.name) == name && std::find(seen.begin(), seen.end(), call.signature) == seen.end()) {
      seen.push_back(call.signature);
      planner.signature(call.signature, std::string(name));
    }
  }
  return planner.take();
}

}  // namespace tracer::sysc
