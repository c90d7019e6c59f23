#include "sysc/arrange.h"

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/require.h"
#include "spec/references.h"

namespace tracer::sysc {

using namespace spec;

namespace {

/// Calls `visit(part, entries)` for every table that others refer to, except the strings.
template <typename Set, typename Visit>
void for_each_part(Set& set, Visit visit) {
  visit(Part::exprs, set.exprs);
  visit(Part::expr_lists, set.expr_lists);
  visit(Part::abi_values, set.abi_values);
  visit(Part::constants, set.constants);
  visit(Part::groups, set.groups);
  visit(Part::sets, set.sets);
  visit(Part::customs, set.customs);
  visit(Part::types, set.types);
  visit(Part::structs, set.structs);
  visit(Part::fields, set.fields);
  visit(Part::shows, set.shows);
  visit(Part::show_parts, set.show_parts);
  visit(Part::choices, set.choices);
  visit(Part::choice_rows, set.choice_rows);
  visit(Part::params, set.params);
  visit(Part::signatures, set.signatures);
  visit(Part::signature_rows, set.signature_rows);
  visit(Part::calls, set.calls);
  visit(Part::redirects, set.redirects);
}

class Arranger {
 public:
  explicit Arranger(TableSet& set) : set_(set), strings_(set.strings.size(), none) {
    for_each_part(set_, [&](Part part, const auto& entries) { places(part).resize(entries.size()); });
    for (Index i = 0; i < set_.abi_values.size(); ++i) {
      places(Part::abi_values)[i].run = {i - i % static_cast<Index>(abi_count), static_cast<Index>(abi_count)};
    }
    for_each_part(set_, [&](Part part, auto& entries) {
      for (Index i = 0; i < entries.size(); ++i) {
        if (places(part)[i].run.count == 0) {
          places(part)[i].run = {i, 1};
        }
        visit(part, entries[i], [&](Part of, auto& reference) {
          if constexpr (std::is_same_v<decltype(reference), Range&>) {
            for (Index j = 0; j < reference.count; ++j) {
              Range& run = places(of)[reference.first + j].run;
              require(run.count <= 1 || (run.first == reference.first && run.count == reference.count), "runs overlap");
              run = reference;
            }
          }
        });
      }
    });
  }

  TableSet arranged() {
    for (Index i = 0; i < set_.customs.size(); ++i) {
      take(Part::customs, i);  // every trace looks up their names
    }
    for (const NumberedCall& row : set_.numbers[index_of(Abi::x86_64)]) {
      if (row.call != none) {
        take(Part::calls, row.call);
      }
    }
    while (!later_.empty()) {
      auto rows = std::exchange(later_, {});
      std::stable_sort(rows.begin(), rows.end(),
                       [](const auto& a, const auto& b) { return a.second.count < b.second.count; });
      for (const auto& [part, range] : rows) {
        take(part, range.first);
      }
    }
    for_each_part(set_, [&](Part part, const auto& entries) {
      for (Index i = 0; i < entries.size(); ++i) {
        take(part, i);
      }
    });
    for (Function& function : set_.functions) {
      visit(Part::calls, function, [&](Part of, auto& reference) { take_reference(of, reference); });
    }
    for (const Part part : backwards) {
      turn(part);
    }
    return rewritten();
  }

 private:
  struct Place {
    Range run;         ///< the contiguous entries to which it belongs
    Index now = none;  ///< its new index
  };

  std::vector<Place>& places(Part part) { return places_[static_cast<std::size_t>(part)]; }

  /// Visits the references of an entry, also in tables whose entries are indexes.
  template <typename T, typename Visit>
  static void visit(Part part, T& entry, Visit visit) {
    if constexpr (!std::is_integral_v<T>) {
      for_each_reference(entry, visit);
    } else if constexpr (std::is_same_v<T, Index>) {
      visit(part == Part::customs ? Part::strings : Part::exprs, entry);
    }
  }

  /// Assigns new indexes to the entry and to all entries that it refers to.
  void take(Part part, Index index) {
    if (part == Part::strings) {
      take_string(index);
      return;
    }
    const Place& place = places(part)[index];
    if (place.now != none) {
      return;
    }
    if (part == Part::exprs) {  // operands come before the expressions that use them
      visit(part, set_.exprs[index], [&](Part to, auto& reference) {
        if (to == Part::exprs) {
          take_reference(to, reference);
        }
      });
    }
    put(part, place.run);
    for_each_part(set_, [&](Part of, auto& entries) {
      if (of == part) {
        for (Index i = place.run.first; i < place.run.first + place.run.count; ++i) {
          visit(of, entries[i], [&](Part to, auto& reference) { take_reference(to, reference); });
        }
      }
    });
  }

  void take_reference(Part part, Index index) { take(part, index); }
  void take_reference(Part part, Range range) {
    if (range.count == 0) {
      return;
    }
    if (part == Part::signature_rows || part == Part::choice_rows) {
      later_.emplace_back(part, range);
    } else {
      take(part, range.first);
    }
  }

  void take_string(Index offset) {
    if (strings_[offset] == none) {
      strings_[offset] = static_cast<Index>(text_.size());
      text_ += set_.strings.c_str() + offset;
      text_ += '\0';
    }
  }

  /// The tables whose most used entries come last, next to the first entries of the next table (emit.cpp).
  static constexpr std::array<Part, 3> backwards = {Part::params, Part::fields, Part::types};

  /// Reverses the order of runs, but not the order within a run.
  void turn(Part part) {
    std::vector<Index> order;
    const auto& old = orders_[static_cast<std::size_t>(part)];
    order.reserve(old.size());
    for (std::size_t end = old.size(); end > 0;) {
      const std::size_t start = end - places(part)[old[end - 1]].run.count;
      order.insert(order.end(), old.begin() + static_cast<std::ptrdiff_t>(start),
                   old.begin() + static_cast<std::ptrdiff_t>(end));
      end = start;
    }
    for (Index i = 0; i < order.size(); ++i) {
      places(part)[order[i]].now = i;
    }
    orders_[static_cast<std::size_t>(part)] = std::move(order);
  }

  void put(Part part, Range run) {
    auto& order = orders_[static_cast<std::size_t>(part)];
    for (Index i = run.first; i < run.first + run.count; ++i) {
      places(part)[i].now = static_cast<Index>(order.size());
      order.push_back(i);
    }
  }

  Index now(Part part, Index index) { return part == Part::strings ? strings_[index] : places(part)[index].now; }

  template <typename T>
  void rewrite(Part part, T& entry) {
    visit(part, entry, [&](Part of, auto& reference) {
      if constexpr (std::is_same_v<decltype(reference), Range&>) {
        reference.first = reference.count == 0 ? 0 : now(of, reference.first);
      } else {
        reference = now(of, reference);
      }
    });
  }

  TableSet rewritten() {
    TableSet result;
    result.strings = std::move(text_);
    for_each_part(set_, [&](Part part, auto& entries) {
      for_each_part(result, [&](Part same, auto& into) {
        if constexpr (std::is_same_v<decltype(entries), decltype(into)>) {
          if (same == part) {
            for (const Index i : orders_[static_cast<std::size_t>(part)]) {
              rewrite(part, into.emplace_back(entries[i]));
            }
          }
        }
      });
    });
    result.numbers = set_.numbers;
    for (auto& rows : result.numbers) {
      for (NumberedCall& row : rows) {
        rewrite(Part::calls, row);
      }
    }
    result.functions = set_.functions;
    for (Function& function : result.functions) {
      rewrite(Part::calls, function);
    }
    return result;
  }

  TableSet& set_;
  std::array<std::vector<Place>, part_count> places_;
  std::array<std::vector<Index>, part_count> orders_;  ///< old indexes in the new order
  std::vector<Index> strings_;                         ///< new offsets
  std::string text_;
  std::vector<std::pair<Part, Range>> later_;
};

}  // namespace

TableSet arrange(TableSet set) {
  return Arranger(set).arranged();
}

}  // namespace tracer::sysc
