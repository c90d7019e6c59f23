#include "spec/strace_tables.h"

#include <algorithm>
#include <iterator>

namespace tracer::spec {
namespace {

/// Shortens the owners' ranges of rows by those that are beyond strace. Several owners may share a range.
template <typename Row, typename Owner>
void leave_out(std::vector<Row>& rows, std::vector<Owner>& owners, Range Owner::*range) {
  for (Owner& owner : owners) {
    Range& of_owner = owner.*range;
    const auto first = rows.begin() + of_owner.first;
    const auto end = first + of_owner.count;
    if (std::any_of(first, end, [](const Row& row) { return row.beyond; })) {
      const auto kept = std::stable_partition(first, end, [](const Row& row) { return !row.beyond; });
      of_owner.count = static_cast<Index>(kept - first);
    }
  }
}

/// Takes the sets of the drivers that strace does not distinguish out of the chain of their kind. Of the others it
/// shows the names, but no arguments of their own.
void forget_drivers(std::vector<ConstantSet>& sets, std::vector<SignatureRow>& rows) {
  for (ConstantSet& set : sets) {
    while (set.special != none && sets[set.special].beyond) {
      set.special = sets[set.special].special;
    }
  }
  for (SignatureRow& row : rows) {
    row.driver = none;
  }
}

}  // namespace

StraceTables::StraceTables(const Tables& all)
    : tables_(all),
      constants_(all.constants.begin(), all.constants.end()),
      sets_(all.sets.begin(), all.sets.end()),
      groups_(all.groups.begin(), all.groups.end()),
      choice_rows_(all.choice_rows.begin(), all.choice_rows.end()),
      choices_(all.choices.begin(), all.choices.end()),
      signature_rows_(all.signature_rows.begin(), all.signature_rows.end()),
      signatures_(all.signatures.begin(), all.signatures.end()) {
  leave_out(constants_, groups_, &ConstantGroup::constants);
  leave_out(choice_rows_, choices_, &Choice::rows);
  leave_out(signature_rows_, signatures_, &Signature::rows);
  forget_drivers(sets_, signature_rows_);
  tables_.sets = sets_;
  tables_.constants = constants_;
  tables_.groups = groups_;
  tables_.choice_rows = choice_rows_;
  tables_.choices = choices_;
  tables_.signature_rows = signature_rows_;
  tables_.signatures = signatures_;
  for (std::size_t abi = 0; abi < abi_count; ++abi) {
    std::copy_if(all.numbers[abi].begin(), all.numbers[abi].end(), std::back_inserter(numbers_[abi]),
                 [](const NumberedCall& row) { return !row.beyond; });
    tables_.numbers[abi] = numbers_[abi];
  }
}

}  // namespace tracer::spec
