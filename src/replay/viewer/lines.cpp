#include "replay/viewer/lines.h"

#include <map>

namespace tracer::replay::viewer {

namespace {

using pipeline::views::Row;

struct Run {
  std::size_t first = 0;
  std::size_t rows = 0;
  pipeline::views::FoldTally tally;
};

/// Finds the runs of each thread: those of its rows that follow one another, in its own order, and are noise.
std::map<std::size_t, Run> find_runs(const std::vector<Row>& rows, const Lens& lens,
                                     std::vector<std::size_t>& first_of) {
  std::map<std::size_t, Run> runs;
  std::map<pid_t, std::size_t> current;  // the first row of the run, by thread
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    first_of[i] = i;
    if (!lens.shows(row)) {
      continue;
    }
    if (row.rule == nullptr) {
      current.erase(row.tid);
      continue;
    }
    const std::size_t first = current.try_emplace(row.tid, i).first->second;
    first_of[i] = first;
    Run& run = runs[first];
    run.first = first;
    ++run.rows;
    run.tally.add(*row.rule, row.noisy, row.result, row.duration.value_or(std::chrono::nanoseconds(0)));
  }
  return runs;
}

}  // namespace

std::vector<ShownLine> make_lines(const std::vector<Row>& rows, const Lens& lens, const std::set<std::size_t>& opened,
                                  bool utf8) {
  std::vector<std::size_t> first_of(rows.size());
  std::map<std::size_t, Run> runs;
  if (lens.folds) {
    runs = find_runs(rows, lens, first_of);
  }
  std::vector<ShownLine> lines;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!lens.shows(rows[i])) {
      continue;
    }
    const auto run = lens.folds && rows[i].rule != nullptr ? runs.find(first_of[i]) : runs.end();
    const bool is_run = run != runs.end() && run->second.rows > 1;
    if (!is_run || opened.contains(run->first)) {
      lines.push_back({i, {}, is_run && run->first == i});
    } else if (run->first == i) {
      lines.push_back({i, run->second.tally.text(utf8), false});
    }
  }
  return lines;
}

}  // namespace tracer::replay::viewer
