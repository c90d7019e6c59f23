// Tables that own their entries: `sysc` fills them in, `--define` loads them, tests build them.
#pragma once

#include <string>
#include <vector>

#include "spec/spec.h"

namespace tracer::spec {

struct TableSet {
  std::string strings;
  std::vector<Expr> exprs;
  std::vector<ExprId> expr_lists;
  std::vector<std::int64_t> abi_values;
  std::vector<Constant> constants;
  std::vector<ConstantGroup> groups;
  std::vector<ConstantSet> sets;
  std::vector<StringRef> customs;
  std::vector<Type> types;
  std::vector<Struct> structs;
  std::vector<Field> fields;
  std::vector<Show> shows;
  std::vector<ShowPart> show_parts;
  std::vector<Choice> choices;
  std::vector<ChoiceRow> choice_rows;
  std::vector<Param> params;
  std::vector<Signature> signatures;
  std::vector<SignatureRow> signature_rows;
  std::vector<Call> calls;
  std::vector<Redirect> redirects;
  std::array<std::vector<NumberedCall>, abi_count> numbers;
  std::vector<Function> functions;

  /// Returns a view that is valid until the set is changed, moved or destroyed.
  [[nodiscard]] Tables view() const {
    Tables tables{strings,    exprs,          expr_lists, abi_values, constants,  groups,   sets,        customs,
                  types,      structs,        fields,     shows,      show_parts, choices,  choice_rows, params,
                  signatures, signature_rows, calls,      redirects,  {},         functions};
    for (std::size_t i = 0; i < abi_count; ++i) {
      tables.numbers[i] = numbers[i];
    }
    return tables;
  }
};

}  // namespace tracer::spec
