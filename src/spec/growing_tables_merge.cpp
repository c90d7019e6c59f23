// Appends tables to others: every index increases by the number of entries that precede it.
#include <algorithm>
#include <utility>

#include "spec/growing_tables.h"
#include "spec/references.h"

namespace tracer::spec {

namespace {

class Mover {
 public:
  explicit Mover(const TableSet& into)
      : by_{count(into.strings),    count(into.exprs),          count(into.expr_lists),  count(into.abi_values),
            count(into.constants),  count(into.groups),         count(into.sets),        count(into.customs),
            count(into.types),      count(into.structs),        count(into.fields),      count(into.shows),
            count(into.show_parts), count(into.choices),        count(into.choice_rows), count(into.params),
            count(into.signatures), count(into.signature_rows), count(into.calls),       count(into.redirects)} {}

  template <typename T>
  T moved(T entry) const {
    for_each_reference(entry, *this);
    return entry;
  }
  [[nodiscard]] Index moved(Part part, Index index) const { return index + by_[static_cast<std::size_t>(part)]; }

  void operator()(Part part, Index& index) const { index = moved(part, index); }
  void operator()(Part part, Range& range) const { range.first = moved(part, range.first); }

 private:
  template <typename T>
  static Index count(const T& entries) {
    return static_cast<Index>(entries.size());
  }

  std::array<Index, part_count> by_;  ///< in the order of Part
};

}  // namespace

void GrowingTables::add(const TableSet& others) {
  begin();
  const Mover mover(set_);
  const auto fits = [&](const auto& into, const auto& from) {
    full_ = full_ || into.capacity() - into.size() < from.size();
  };
  fits(set_.strings, others.strings);
  fits(set_.exprs, others.exprs);
  fits(set_.constants, others.constants);
  fits(set_.groups, others.groups);
  fits(set_.sets, others.sets);
  fits(set_.types, others.types);
  fits(set_.structs, others.structs);
  fits(set_.fields, others.fields);
  fits(set_.params, others.params);
  fits(set_.signatures, others.signatures);
  fits(set_.calls, others.calls);
  if (full_) {
    return;
  }
  const auto move_all = [&](auto& into, const auto& from) {
    for (const auto& entry : from) {
      into.push_back(mover.moved(entry));
    }
  };
  set_.strings += others.strings;
  move_all(set_.exprs, others.exprs);
  for (const ExprId id : others.expr_lists) {
    set_.expr_lists.push_back(mover.moved(Part::exprs, id));
  }
  set_.abi_values.insert(set_.abi_values.end(), others.abi_values.begin(), others.abi_values.end());
  move_all(set_.constants, others.constants);
  move_all(set_.groups, others.groups);
  move_all(set_.sets, others.sets);
  for (const StringRef name : others.customs) {
    set_.customs.push_back(mover.moved(Part::strings, name));
  }
  move_all(set_.types, others.types);
  move_all(set_.structs, others.structs);
  move_all(set_.fields, others.fields);
  move_all(set_.shows, others.shows);
  move_all(set_.show_parts, others.show_parts);
  move_all(set_.choices, others.choices);
  move_all(set_.choice_rows, others.choice_rows);
  move_all(set_.params, others.params);
  move_all(set_.signatures, others.signatures);
  move_all(set_.signature_rows, others.signature_rows);
  move_all(set_.calls, others.calls);
  move_all(set_.redirects, others.redirects);
  move_all(set_.functions, others.functions);
  tables_ = set_.view();
  std::stable_sort(set_.functions.begin(), set_.functions.end(), [&](const Function& a, const Function& b) {
    return std::pair(tables_.text(a.library), tables_.text(a.name)) <
           std::pair(tables_.text(b.library), tables_.text(b.name));
  });
}

}  // namespace tracer::spec
