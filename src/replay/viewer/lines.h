// Which rows of a block have a line of their own: those that the person wants to see, with runs of noise folded.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "pipeline/views/rows.h"

namespace tracer::replay::viewer {

/// What a person wants to see of the rows that pass the filter.
struct Lens {
  bool folds = true;
  pid_t process = 0;             ///< only its rows; 0: those of all
  pid_t thread = 0;              ///< likewise
  std::set<std::string> hidden;  ///< names of calls

  [[nodiscard]] bool shows(const pipeline::views::Row& row) const {
    return (process == 0 || row.tgid == process) && (thread == 0 || row.tid == thread) &&
           (row.kind != pipeline::views::Row::Kind::call || !hidden.contains(row.name));
  }
  [[nodiscard]] bool is_wide() const { return process == 0 && thread == 0 && hidden.empty(); }
};

struct ShownLine {
  std::size_t row = 0;     ///< the first one, if there are several
  std::string fold;        ///< the text of a folded run; empty: the row stands alone
  bool opens_run = false;  ///< the row begins a run that a person has opened
};

/// `opened`: the first rows of runs that are not folded.
[[nodiscard]] std::vector<ShownLine> make_lines(const std::vector<pipeline::views::Row>& rows, const Lens& lens,
                                                const std::set<std::size_t>& opened, bool utf8);

}  // namespace tracer::replay::viewer
