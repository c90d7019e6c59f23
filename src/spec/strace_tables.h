// The tables as strace has them: without the rows and names that are marked as beyond it.
#pragma once

#include <vector>

#include "spec/spec.h"

namespace tracer::spec {

/// Owns the tables that it changes; the others are those that it was made of, which must outlive it.
class StraceTables {
 public:
  explicit StraceTables(const Tables& all);
  StraceTables(const StraceTables&) = delete;
  StraceTables& operator=(const StraceTables&) = delete;

  [[nodiscard]] const Tables& tables() const { return tables_; }

 private:
  Tables tables_;
  std::vector<Constant> constants_;
  std::vector<ConstantSet> sets_;
  std::vector<ConstantGroup> groups_;
  std::vector<ChoiceRow> choice_rows_;
  std::vector<Choice> choices_;
  std::vector<SignatureRow> signature_rows_;
  std::vector<Signature> signatures_;
  std::array<std::vector<NumberedCall>, abi_count> numbers_;
};

}  // namespace tracer::spec
