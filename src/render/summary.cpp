#include "render/summary.h"

#include <fmt/core.h>

#include <algorithm>

#include "render/line_parts.h"

namespace tracer::render {

using std::chrono::nanoseconds;

namespace {

struct ColumnForm {
  std::string_view heading;
  std::size_t width;
};

ColumnForm form_of(SummaryColumn column, bool ltrace) {
  switch (column) {
    case SummaryColumn::time_percent:
      return {"% time", 6};
    case SummaryColumn::total_time:
      return {"seconds", 11};
    case SummaryColumn::min_time:
      return {"shortest", 8};
    case SummaryColumn::max_time:
      return {"longest", 8};
    case SummaryColumn::avg_time:
      return {"usecs/call", 11};
    case SummaryColumn::calls:
      return {"calls", 9};
    case SummaryColumn::errors:
      return {"errors", 9};
    case SummaryColumn::name:
      return ltrace ? ColumnForm{"     function", 20} : ColumnForm{"syscall", 16};
    case SummaryColumn::wall_total:
      return {"wall-total", 11};
    case SummaryColumn::wall_min:
      return {"wall-min", 8};
    case SummaryColumn::wall_max:
      return {"wall-max", 8};
    case SummaryColumn::wall_avg:
      return {"wall-avg", 11};
    case SummaryColumn::p50:
      return {"p50 us", 11};
    case SummaryColumn::p95:
      return {"p95 us", 11};
    case SummaryColumn::p99:
      return {"p99 us", 11};
  }
  return {};
}

/// Aligns numbers right and names left; does not pad the last column after a name.
void append_cell(TextBuffer& text, std::string_view cell, SummaryColumn column, std::size_t width, bool last) {
  const std::size_t fill = cell.size() < width ? width - cell.size() : 0;
  const bool is_name = column == SummaryColumn::name;
  if (!is_name) {
    text.append(fill, ' ');
  }
  text.append(cell);
  if (is_name && !last) {
    text.append(fill, ' ');
  }
  text.append(last ? '\n' : ' ');
}

/// Rounds to microseconds; nanoseconds::max(), the shortest time of no call, becomes 0.
nanoseconds rounded(nanoseconds time) {
  return time == nanoseconds::max() ? nanoseconds(0) : (time + nanoseconds(500)) / 1000 * 1000;
}

/// Of the total that the row shows: that of one call is the total itself.
std::uint64_t average_in_microseconds(nanoseconds total, std::uint64_t calls) {
  return calls == 0 ? 0 : static_cast<std::uint64_t>(rounded(total).count()) / 1000 / calls;
}

void append_microseconds(TextBuffer& text, nanoseconds time) {
  const auto count = static_cast<std::uint64_t>(time.count());
  text.decimal(count / 1000);
  text.append('.');
  text.decimal_padded(count % 1000, 3);
}

std::optional<unsigned> percent_of(SummaryColumn column) {
  switch (column) {
    case SummaryColumn::p50:
      return 50;
    case SummaryColumn::p95:
      return 95;
    case SummaryColumn::p99:
      return 99;
    default:
      return std::nullopt;
  }
}

bool is_time(SummaryColumn column) {
  return column != SummaryColumn::calls && column != SummaryColumn::errors && column != SummaryColumn::name;
}

}  // namespace

bool SummaryOptions::wants_latencies() const {
  return histogram || (sort_by && percent_of(*sort_by)) ||
         std::any_of(columns.begin(), columns.end(), [](SummaryColumn column) { return percent_of(column); });
}

bool SummaryOptions::wants_sums_only() const {
  const auto is_sum = [](SummaryColumn column) {
    return column == SummaryColumn::time_percent || column == SummaryColumn::total_time ||
           column == SummaryColumn::avg_time || !is_time(column);
  };
  return !wall_clock && !histogram && (!sort_by || is_sum(*sort_by)) &&
         std::all_of(columns.begin(), columns.end(), is_sum);
}

bool SummaryOptions::wants_times() const {
  return histogram || (sort_by && is_time(*sort_by)) || std::any_of(columns.begin(), columns.end(), is_time);
}

bool SummaryOptions::wants_results() const {
  return wants_times() || sort_by == SummaryColumn::errors ||
         std::find(columns.begin(), columns.end(), SummaryColumn::errors) != columns.end();
}

void Summary::Times::add_all(const SummaryTimes& other) {
  total += other.total;
  shortest = std::min(shortest, other.shortest);
  longest = std::max(longest, other.longest);
}

void Summary::Times::subtract(nanoseconds overhead, std::uint64_t calls) {
  const auto rest = [](nanoseconds time, nanoseconds off) { return std::max(time - off, nanoseconds(0)); };
  total = rest(total, overhead * static_cast<std::int64_t>(calls));
  shortest = shortest == nanoseconds::max() ? shortest : rest(shortest, overhead);
  longest = rest(longest, overhead);
}

nanoseconds Summary::overhead() const {
  if (options_.overhead || options_.wall_clock) {
    return options_.overhead.value_or(nanoseconds(0));
  }
  nanoseconds least = nanoseconds::max();
  for (const Rows& rows : rows_) {
    for (const Row& row : rows) {
      least = std::min(least, row.times.shortest);
    }
  }
  return least == nanoseconds::max() ? nanoseconds(0) : least;
}

Summary::Row& Summary::row_of(Abi abi, std::uint64_t number) {
  Rows& rows = rows_[index_of(abi)];
  auto place = std::lower_bound(rows.begin(), rows.end(), number,
                                [](const Row& row, std::uint64_t wanted) { return row.number < wanted; });
  if (place != rows.end() && place->number == number) {
    return *place;
  }
  return *rows.insert(place, Row{abi, number, 0, 0, {}, {}, {}});
}

void Summary::count(const SummaryCall& call) {
  const auto once = [](nanoseconds time) { return SummaryTimes{time, time, time}; };
  add({call.abi, call.number, 1, call.failed ? std::uint64_t{1} : 0, once(call.cpu_time), once(call.wall_time), {}});
  if (keeps_latencies_ && has_room(call.abi, call.number)) {
    row_of(call.abi, call.number).latencies.add(call.wall_time);
  }
}

void Summary::add(const SummaryTotals& totals) {
  if (has_room(totals.abi, totals.number)) {
    add_to(row_of(totals.abi, totals.number), totals);
  }
}

bool Summary::has_room(Abi abi, std::uint64_t number) const {
  const Rows& rows = rows_[index_of(abi)];
  return rows.size() < most_rows || !name_of_call(abi, number).empty() ||
         std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.number == number; });
}

Summary::Row& Summary::row_of_function(Abi abi, std::string_view name) {
  const auto [at, is_new] = function_numbers_.try_emplace(std::string(name), first_function + function_names_.size());
  if (is_new) {
    function_names_.emplace_back(name);
  }
  return row_of(abi, at->second);
}

void Summary::count_function(Abi abi, std::string_view name, std::uint64_t calls) {
  row_of_function(abi, name).calls += calls;
}

void Summary::count_function_return(Abi abi, std::string_view name, bool failed, nanoseconds time) {
  Row& row = row_of_function(abi, name);
  const SummaryTimes once{time, time, time};
  add_to(row, {abi, row.number, 0, failed ? std::uint64_t{1} : 0, once, once, {}});
  if (keeps_latencies_) {
    row.latencies.add(time);
  }
}

void Summary::add_to(Row& row, const SummaryTotals& totals) {
  row.calls += totals.calls;
  row.errors += totals.errors;
  row.times.add_all(options_.wall_clock ? totals.wall_time : totals.cpu_time);
  row.wall.add_all(totals.wall_time);
  row.latencies.add_all(totals.latencies);
}

void Summary::join_names(Rows& rows) const {
  std::unordered_map<std::string, Row*> first;
  Rows joined;
  joined.reserve(rows.size());  // so that the pointers stay
  TextBuffer name;
  for (Row& row : rows) {
    name.clear();
    write_name(name, row);
    const auto [known, is_new] = first.try_emplace(std::string(name.view()), nullptr);
    if (is_new) {
      joined.push_back(std::move(row));
      known->second = &joined.back();
      continue;
    }
    Row& into = *known->second;
    into.calls += row.calls;
    into.errors += row.errors;
    into.times.add_all(row.times);
    into.wall.add_all(row.wall);
    into.latencies.add_all(row.latencies.by_bucket());
  }
  rows = std::move(joined);
}

void Summary::sort(Rows& rows) const {
  if (!options_.sort_by) {
    return;
  }
  const auto descending = [&rows](auto key) {
    std::stable_sort(rows.begin(), rows.end(), [key](const Row& a, const Row& b) { return key(a) > key(b); });
  };
  switch (*options_.sort_by) {
    case SummaryColumn::time_percent:
    case SummaryColumn::total_time:
      return descending([](const Row& row) { return row.times.total; });
    case SummaryColumn::min_time:
      return descending([](const Row& row) { return row.times.shortest; });
    case SummaryColumn::max_time:
      return descending([](const Row& row) { return row.times.longest; });
    case SummaryColumn::avg_time:
      return descending([](const Row& row) { return row.times.total / static_cast<std::int64_t>(row.calls); });
    case SummaryColumn::calls:
      return descending([](const Row& row) { return row.calls; });
    case SummaryColumn::errors:
      return descending([](const Row& row) { return row.errors; });
    case SummaryColumn::wall_total:
      return descending([](const Row& row) { return row.wall.total; });
    case SummaryColumn::wall_min:
      return descending([](const Row& row) { return row.wall.shortest; });
    case SummaryColumn::wall_max:
      return descending([](const Row& row) { return row.wall.longest; });
    case SummaryColumn::wall_avg:
      return descending([](const Row& row) { return row.wall.total / static_cast<std::int64_t>(row.calls); });
    case SummaryColumn::p50:
    case SummaryColumn::p95:
    case SummaryColumn::p99:
      return descending(
          [percent = *percent_of(*options_.sort_by)](const Row& row) { return row.latencies.percentile(percent); });
    case SummaryColumn::name:
      break;
  }
  std::stable_sort(rows.begin(), rows.end(), [this](const Row& a, const Row& b) {
    TextBuffer left;
    TextBuffer right;
    write_name(left, a);
    write_name(right, b);
    return left.view() < right.view();
  });
}

std::string_view Summary::name_of_call(Abi abi, std::uint64_t number) const {
  if (const spec::SubCall* sub_call = sub_calls_.find(number)) {
    return sub_call->name;
  }
  const spec::Call* call = tables_.find(abi, number);
  return call == nullptr ? std::string_view{} : tables_.text(call->name);
}

void Summary::write_name(TextBuffer& text, const Row& row) const {
  if (is_function(row.number)) {
    text.append(function_names_[row.number - first_function]);
  } else if (const std::string_view name = name_of_call(row.abi, row.number); !name.empty()) {
    text.append(name);
  } else {
    text.append("syscall_");
    text.hex_padded(reported_call_number(row.abi, row.number), 1);
  }
}

void Summary::write_cell(TextBuffer& text, SummaryColumn column, const Row& row, nanoseconds total) const {
  constexpr unsigned digits = 6;
  switch (column) {
    case SummaryColumn::time_percent:
      text.append(fmt::format("{:.2f}", total.count() == 0 ? 0.0
                                                           : 100.0 * static_cast<double>(row.times.total.count()) /
                                                                 static_cast<double>(total.count())));
      break;
    case SummaryColumn::total_time:
      append_seconds(text, rounded(row.times.total), digits);
      break;
    case SummaryColumn::min_time:
      append_seconds(text, rounded(row.times.shortest), digits);
      break;
    case SummaryColumn::max_time:
      append_seconds(text, rounded(row.times.longest), digits);
      break;
    case SummaryColumn::avg_time:
      text.decimal(average_in_microseconds(row.times.total, row.calls));
      break;
    case SummaryColumn::wall_total:
      append_seconds(text, rounded(row.wall.total), digits);
      break;
    case SummaryColumn::wall_min:
      append_seconds(text, rounded(row.wall.shortest), digits);
      break;
    case SummaryColumn::wall_max:
      append_seconds(text, rounded(row.wall.longest), digits);
      break;
    case SummaryColumn::wall_avg:
      text.decimal(average_in_microseconds(row.wall.total, row.calls));
      break;
    case SummaryColumn::p50:
    case SummaryColumn::p95:
    case SummaryColumn::p99:
      append_microseconds(text, std::min(row.latencies.percentile(*percent_of(column)), row.wall.longest));
      break;
    case SummaryColumn::calls:
      text.decimal(row.calls);
      break;
    case SummaryColumn::errors:
      if (row.errors != 0) {
        text.decimal(row.errors);
      }
      break;
    case SummaryColumn::name:
      break;
  }
}

/// Returns the width of the name column. strace's is one character wider than the longest name; ltrace's is fixed.
std::size_t Summary::width_of_names(const Rows& rows) const {
  std::size_t width = form_of(SummaryColumn::name, options_.ltrace).width;
  TextBuffer name;
  for (const Row& row : rows) {
    name.clear();
    write_name(name, row);
    width = options_.ltrace ? width : std::max(width, name.view().size() + 1);
  }
  return width;
}

void Summary::write_table(TextBuffer& text, Rows rows) const {
  Row total;
  const nanoseconds overhead_per_call = overhead();
  for (Row& row : rows) {
    row.times.subtract(overhead_per_call, row.calls);
    total.calls += row.calls;
    total.errors += row.errors;
    total.times.add_all(row.times);
    total.wall.add_all(row.wall);
    total.latencies.add_all(row.latencies.by_bucket());
  }
  sort(rows);

  const auto& columns = options_.columns;
  const auto width_of = [&, names = width_of_names(rows)](SummaryColumn column) {
    return column == SummaryColumn::name ? names : form_of(column, options_.ltrace).width;
  };
  const auto write_line = [&](auto write_cell_of) {
    TextBuffer cell;
    for (const SummaryColumn& column : columns) {
      cell.clear();
      write_cell_of(cell, column);
      append_cell(text, cell.view(), column, width_of(column), &column == &columns.back());
    }
  };
  const auto write_rule = [&] {
    write_line([&](TextBuffer& cell, SummaryColumn column) { cell.append(width_of(column), '-'); });
  };
  write_line([&](TextBuffer& cell, SummaryColumn column) { cell.append(form_of(column, options_.ltrace).heading); });
  write_rule();
  for (const Row& row : rows) {
    write_line([&](TextBuffer& cell, SummaryColumn column) {
      if (column == SummaryColumn::name) {
        write_name(cell, row);
      } else {
        write_cell(cell, column, row, total.times.total);
      }
    });
  }
  write_rule();
  write_line([&](TextBuffer& cell, SummaryColumn column) {
    if (column == SummaryColumn::name) {
      cell.append("total");
    } else if (column == SummaryColumn::time_percent) {
      cell.append("100.00");
    } else if (column != SummaryColumn::avg_time || !options_.ltrace) {
      write_cell(cell, column, total, total.times.total);
    }
  });
  if (options_.histogram) {
    for (const Row& row : rows) {
      text.append('\n');
      write_name(text, row);
      text.append(":\n");
      row.latencies.write(text);
    }
  }
}

void Summary::write(TextBuffer& text, Abi native) const {
  std::array<Abi, abi_count> abis{native};
  for (std::size_t i = 0, next = 1; i < abi_count; ++i) {
    if (static_cast<Abi>(i) != native) {
      abis[next++] = static_cast<Abi>(i);
    }
  }
  if (options_.ltrace) {
    Rows all;
    for (const Abi abi : abis) {
      all.insert(all.end(), rows_[index_of(abi)].begin(), rows_[index_of(abi)].end());
    }
    join_names(all);
    write_table(text, std::move(all));
    return;
  }
  for (const Abi abi : abis) {
    if (rows_[index_of(abi)].empty()) {
      continue;
    }
    if (abi != native) {
      text.append("System call usage summary for ");
      text.append(mode_name(abi));
      text.append(" mode:\n");
    }
    write_table(text, rows_[index_of(abi)]);
  }
}

}  // namespace tracer::render
