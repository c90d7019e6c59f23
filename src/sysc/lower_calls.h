// Lowers system calls and their numbers.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sysc/lower_signatures.h"

namespace tracer::sysc {

/// A description of a call for some ABIs.
struct CallVariant {
  const ast::Call* ast = nullptr;
  spec::Index signature = spec::none;
};

class CallLowering {
 public:
  CallLowering(LoweringContext& context, ExprLowering& exprs, TypeLowering& types, SignatureLowering& signatures)
      : context_(context), exprs_(exprs), types_(types), signatures_(signatures) {}

  /// Lowers the signatures of all calls.
  void lower();
  /// `lenient`: a number without a description is a warning.
  void lower_numbers(bool lenient);
  /// Returns the description of a call for an ABI; nullptr if there is none.
  [[nodiscard]] const CallVariant* find_variant(std::string_view name, Abi abi) const;
  /// Returns the message for a name that no described call has.
  [[nodiscard]] std::string unknown_call(const std::string& name) const;

 private:
  spec::CallId call_row(const std::string& printed, const CallVariant& variant);
  void lower_redirect(spec::CallId id, const ast::Call& ast);
  void check_registers(const ast::Number& row, spec::Index signature);
  spec::Index fallback_signature();

  LoweringContext& context_;
  ExprLowering& exprs_;
  TypeLowering& types_;
  SignatureLowering& signatures_;
  spec::Index fallback_signature_ = spec::none;
  std::unordered_map<std::string, std::vector<CallVariant>> variants_;
  std::unordered_map<std::string, std::vector<std::pair<spec::Index, spec::CallId>>> call_rows_;
};

}  // namespace tracer::sysc
