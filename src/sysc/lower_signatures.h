// Lowers signatures: parameters, the registers that hold them, and the rows that a selector chooses.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "sysc/lower_ioctls.h"

namespace tracer::sysc {

constexpr unsigned register_count = 6;

/// The signature of each ioctl that has arguments.
using IoctlSignatures = std::unordered_map<const ast::IoctlRow*, spec::Index>;

class SignatureLowering {
 public:
  SignatureLowering(LoweringContext& context, TypeLookup& lookup, ExprLowering& exprs, TypeLowering& types,
                    const IoctlLowering& ioctls)
      : context_(context), lookup_(lookup), exprs_(exprs), types_(types), ioctls_(ioctls) {}

  spec::Index lower_call(const ast::Call& call, AbiMask abis) {
    call_ = call.name.text;
    return lower(call.signature, {}, nullptr, abis);
  }
  [[nodiscard]] const IoctlSignatures& ioctl_signatures() const { return ioctl_signatures_; }

 private:
  using KeyedRow = std::pair<const ast::Row*, std::vector<const ast::Expr*>>;

  /// `params`: those of the enclosing signature, which come first; `enclosing`: nullptr for that of a call.
  spec::Index lower(const ast::Signature& signature, std::vector<const ast::Param*> params,
                    const ast::Signature* enclosing, AbiMask abis);
  Scope lower_params(const std::vector<const ast::Param*>& params, spec::Signature& row);
  void assign_slots(const std::vector<const ast::Param*>& params, spec::Range range);
  void show_outputs_at_exit(spec::Range params);
  void lower_rows(const ast::Signature& signature, const std::vector<const ast::Param*>& params, const Scope& scope,
                  spec::Signature& row, AbiMask abis);
  std::vector<KeyedRow> rows_of(const ast::Signature& signature);
  [[nodiscard]] const ast::Call* call_like(const ast::Name& name) const;
  [[nodiscard]] std::vector<const ast::IoctlRow*> described_ioctls() const;
  std::vector<spec::SignatureRow> ioctl_rows(const std::vector<const ast::Param*>& params,
                                             const ast::Signature& signature, AbiMask abis);

  LoweringContext& context_;
  TypeLookup& lookup_;
  ExprLowering& exprs_;
  TypeLowering& types_;
  const IoctlLowering& ioctls_;
  IoctlSignatures ioctl_signatures_;
  std::string call_;  ///< name of the call whose rows are lowered
};

}  // namespace tracer::sysc
