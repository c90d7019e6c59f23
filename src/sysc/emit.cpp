#include "sysc/emit.h"

#include <type_traits>

namespace tracer::sysc {

using namespace spec;

namespace {

/// Writes the members of one entry, between braces.
class Entry {
 public:
  explicit Entry(std::string& out) : out_(out) { out_ += '{'; }
  ~Entry() {
    if (out_.back() == ',') {
      out_.pop_back();
    }
    out_ += "},\n";
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  template <typename... T>
  void members(const T&... values) {
    (member(values), ...);
  }

 private:
  template <typename T>
  void member(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      out_ += type_name(value);
      out_ += '(' + std::to_string(static_cast<unsigned>(value)) + "),";
    } else if constexpr (std::is_same_v<T, bool>) {
      out_ += value ? "1," : "0,";
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      // C++ has no literal for the smallest number.
      out_ += value == INT64_MIN ? "INT64_MIN," : std::to_string(value) + ",";
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
      out_ += std::to_string(value) + "U,";
    } else if constexpr (std::is_same_v<T, Range>) {
      out_ += '{' + std::to_string(value.first) + ',' + std::to_string(value.count) + "},";
    } else if constexpr (std::is_integral_v<T>) {
      out_ += value == none && sizeof(T) == sizeof(Index) ? "none," : std::to_string(value) + ",";
    } else if constexpr (std::is_same_v<T, Layout>) {
      out_ += '{';
      members(value.size, value.align);
      out_.back() = '}';
      out_ += ',';
    } else {
      out_ += "{{";
      for (const auto& element : value) {
        member(element);
      }
      out_.back() = '}';
      out_ += "},";
    }
  }

  static const char* type_name(ExprOp) { return "ExprOp"; }
  static const char* type_name(Style) { return "Style"; }
  static const char* type_name(TypeKind) { return "TypeKind"; }
  static const char* type_name(Direction) { return "Direction"; }
  static const char* type_name(LengthKind) { return "LengthKind"; }
  static const char* type_name(StructKind) { return "StructKind"; }
  static const char* type_name(ShowKind) { return "ShowKind"; }
  static const char* type_name(Varargs) { return "Varargs"; }

  std::string& out_;
};

void write(Entry& out, const Expr& e) {
  out.members(e.op, e.a, e.b, e.value);
}
void write(Entry& out, const Constant& c) {
  out.members(c.name, c.abis, c.value, c.open_bits, c.number_set, c.beyond, c.unlikely, c.hex_distance, c.reach);
}
void write(Entry& out, const ConstantGroup& g) {
  out.members(g.mask, g.shift, g.label, g.unknown, g.apart, g.constants);
}
void write(Entry& out, const ConstantSet& s) {
  out.members(s.name, s.unknown, s.driver, s.special, s.beyond, s.is_flags, s.fallback, s.groups);
}
void write(Entry& out, const Type& t) {
  out.members(t.kind, t.name, t.width, t.is_signed, t.style, t.set, t.custom, t.target, t.direction, t.wide_pointer,
              t.length_kind, t.length, t.budget, t.max, t.hex, t.brief, t.sized_by, t.index, t.args, t.bit_offset,
              t.bit_count);
}
void write(Entry& out, const Struct& s) {
  out.members(s.name, s.kind, s.variable, s.has_brief, s.is_part, s.is_list, s.is_spliced, s.is_complex, s.is_followed,
              s.has_short, s.short_end, s.has_beginning, s.param_count, s.show, s.layout, s.sized_by, s.min_size,
              s.filled_size, s.step, s.fields);
}
void write(Entry& out, const Field& f) {
  out.members(f.name, f.type, f.offset, f.condition, f.when, f.direction, f.late, f.hidden, f.together, f.in_brief,
              f.in_short, f.inlined, f.at, f.at_exit);
}
void write(Entry& out, const Show& s) {
  out.members(s.kind, s.parts);
}
void write(Entry& out, const ShowPart& p) {
  out.members(p.text, p.value, p.type, p.condition, p.styled);
}
void write(Entry& out, const ChoiceRow& r) {
  out.members(r.keys, r.type, r.whole, r.beyond);
}
void write(Entry& out, const Choice& c) {
  out.members(c.name, c.param_count, c.rows);
}
void write(Entry& out, const Param& p) {
  out.members(p.name, p.type, p.slot, p.wide, p.condition, p.when, p.at_exit, p.saved, p.named, p.unpassed, p.late,
              p.begins);
}
void write(Entry& out, const Signature& s) {
  out.members(s.shown, s.params, s.result, s.note, s.note_prefix, s.note_styled, s.selector, s.rows, s.otherwise);
}
void write(Entry& out, const SignatureRow& r) {
  out.members(r.value, r.abis, r.beyond, r.signature, r.open_bits, r.driver);
}
void write(Entry& out, const Call& c) {
  out.members(c.name, c.signature, c.classes, c.never_returns, c.varargs, c.sets_errno, c.leaf, c.redirect,
              c.redirect_args, c.redirects);
}
void write(Entry& out, const Redirect& r) {
  out.members(r.value, r.call);
}
void write(Entry& out, const Function& f) {
  out.members(f.library, f.name, f.call);
}
void write(Entry& out, const NumberedCall& n) {
  out.members(n.number, n.call, n.beyond);
}

/// Writes all tables as one object, whose members have the same order in memory. Collects the members, their values
/// and the views that Tables has of them.
class Writer {
 public:
  template <typename T>
  void array(const char* type, const std::string& name, const std::vector<T>& entries) {
    array(type, name, name, entries);
  }
  /// `view`: the member of Tables, if its name differs from that of the array.
  template <typename T>
  void array(const char* type, const std::string& name, const std::string& view, const std::vector<T>& entries) {
    if (entries.empty()) {
      return;
    }
    member(type, name, entries.size());
    values_ += "{{";
    for (const auto& entry : entries) {
      if constexpr (std::is_integral_v<T>) {
        number(entry);
      } else {
        Entry line(values_);
        write(line, entry);
      }
    }
    values_ += "}},\n\n";
    views_ += "    all." + view + " = data." + name + ";\n";
  }

  /// Writes one line for each text, so that the change of a text is a change of one line.
  void strings(const std::string& blob) {
    members_ += "  char strings[" + std::to_string(blob.size() + 1) + "];\n";
    views_ += "    all.strings = {data.strings, sizeof data.strings - 1};\n";
    for (std::size_t start = 0; start < blob.size();) {
      const auto end = blob.find('\0', start);
      values_ += "    \"";
      for (const char c : blob.substr(start, end - start)) {
        values_ += c == '"' || c == '\\' || c == '?' ? std::string{'\\', c} : std::string{c};
      }
      values_ += "\\0\"\n";
      start = end + 1;
    }
    values_ += "    \"\",\n\n";
  }

  [[nodiscard]] std::string text() const {
    return "// Made by sysc from the descriptions in syscalls/.\n"
           "#include <array>\n#include <cstdint>\n#include \"spec/spec.h\"\n\n"
           "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\n"
           "namespace tracer::spec {\nnamespace {\n\n"
           "struct Data {\n" +
           members_ + "};\nconstexpr Data data = {\n" + values_ +
           "};\n\n}  // namespace\n\n"
           "const Tables& builtin_tables() {\n"
           "  static constexpr Tables tables = [] {\n    Tables all;\n" +
           views_ + "    return all;\n  }();\n  return tables;\n}\n\n}  // namespace tracer::spec\n";
  }

 private:
  void member(const char* type, const std::string& name, std::size_t count) {
    members_ += "  std::array<" + std::string(type) + ", " + std::to_string(count) + "> " + name + ";\n";
  }
  void number(std::int64_t value) { values_ += value == INT64_MIN ? "INT64_MIN,\n" : std::to_string(value) + ",\n"; }

  std::string members_;
  std::string values_;
  std::string views_;
};

}  // namespace

std::string emit_cpp(const TableSet& set) {
  Writer out;
  // arrange() puts the entries that every trace needs last in some tables; the next table has them first.
  for (std::size_t i = 0; i < abi_count; ++i) {
    out.array("NumberedCall", "numbers_" + std::string(abi_names[i]), "numbers[" + std::to_string(i) + ']',
              set.numbers[i]);
  }
  out.array("Call", "calls", set.calls);
  out.array("Redirect", "redirects", set.redirects);
  out.array("Function", "functions", set.functions);
  out.array("SignatureRow", "signature_rows", set.signature_rows);
  out.array("Param", "params", set.params);
  out.array("Signature", "signatures", set.signatures);
  out.array("ChoiceRow", "choice_rows", set.choice_rows);
  out.array("Choice", "choices", set.choices);
  out.array("ShowPart", "show_parts", set.show_parts);
  out.array("Show", "shows", set.shows);
  out.array("Field", "fields", set.fields);
  out.array("Struct", "structs", set.structs);
  out.array("Type", "types", set.types);
  out.array("StringRef", "customs", set.customs);
  out.array("ConstantSet", "sets", set.sets);
  out.array("ConstantGroup", "groups", set.groups);
  out.array("Constant", "constants", set.constants);
  out.array("std::int64_t", "abi_values", set.abi_values);
  out.array("ExprId", "expr_lists", set.expr_lists);
  out.array("Expr", "exprs", set.exprs);
  out.strings(set.strings);
  return out.text();
}

}  // namespace tracer::sysc
