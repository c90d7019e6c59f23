// The table of -c, by its shape and by what is counted.

#include "base/latency_bucket.h"
#include "catch.h"

#include "pipeline_stage.h"

namespace tracer::test {

namespace {

StageOptions counting() {
  StageOptions options;
  options.pipeline.summary_only = true;
  options.summary.overhead.emplace(0);
  return options;
}

}  // namespace

TEST_CASE("calls are counted by name, errors apart") {
  Stage stage(counting());
  stage.call(10, getpid);
  stage.call(10, close_fd, 3);
  stage.call(10, close_fd, 3, -9);
  CHECK(stage.table() ==
        "% time     seconds  usecs/call     calls    errors syscall\n"
        "------ ----------- ----------- --------- --------- ----------------\n"
        " 66.67    0.000006           3         2         1 close\n"
        " 33.33    0.000003           3         1           getpid\n"
        "------ ----------- ----------- --------- --------- ----------------\n"
        "100.00    0.000009           3         3         1 total\n");
  CHECK(stage.text().empty());
}

TEST_CASE("numbers that no table knows have rows of their own, but do not fill memory") {
  auto options = counting();
  options.summary.columns = {SummaryColumn::calls, SummaryColumn::name};
  Stage few(options);
  few.call(10, 0x1d8, 0, -38);
  few.call(10, ~std::uint64_t{0}, 0, -38);
  CHECK(few.table() ==
        "    calls syscall\n"
        "--------- ---------------------------\n"
        "        1 syscall_0x1d8\n"
        "        1 syscall_0xffffffffffffffff\n"
        "--------- ---------------------------\n"
        "        2 total\n");
  Stage many(options);
  for (std::uint64_t number = 0; number < 10'000; ++number) {
    many.call(10, 999'000 + number, 0, -38);
  }
  many.call(10, getpid);
  CHECK(many.table().find("syscall_0xf3e58\n") != std::string::npos);
  CHECK(many.table().find("getpid\n") != std::string::npos);
  CHECK(many.table().find("     4097 total\n") != std::string::npos);
}

TEST_CASE("without calls there is no table") {
  Stage stage(counting());
  stage.enter(10, exit_group, 0);
  stage.happens(10, trace::Exited{0});
  CHECK(stage.table().empty());
}

TEST_CASE("columns come in the order asked for, and a name that is not last is filled up") {
  auto options = counting();
  options.summary.columns = {SummaryColumn::name, SummaryColumn::calls};
  options.summary.sort_by = SummaryColumn::name;
  Stage stage(options);
  stage.call(10, getpid);
  stage.call(10, close_fd, 3);
  CHECK(stage.table() ==
        "syscall              calls\n"
        "---------------- ---------\n"
        "close                    1\n"
        "getpid                   1\n"
        "---------------- ---------\n"
        "total                    2\n");
}

TEST_CASE("the column of names is wider than the longest of them") {
  auto options = counting();
  options.summary.columns = {SummaryColumn::name, SummaryColumn::calls};
  Stage stage(options);
  stage.call(10, long_name);
  CHECK(stage.table() ==
        "syscall                     calls\n"
        "----------------------- ---------\n"
        "sched_get_priority_max          1\n"
        "----------------------- ---------\n"
        "total                           1\n");
}

TEST_CASE("shortest and longest are the times of single calls") {
  auto options = counting();
  options.summary.wall_clock = true;
  options.summary.columns = {SummaryColumn::min_time, SummaryColumn::max_time, SummaryColumn::name};
  Stage stage(options);
  stage.call(10, getpid);
  stage.enter(10, getpid);
  stage.wait(std::chrono::seconds(2));
  stage.exit(10, 10);
  CHECK(stage.table() ==
        "shortest  longest syscall\n"
        "-------- -------- ----------------\n"
        "0.001000 2.001000 getpid\n"
        "-------- -------- ----------------\n"
        "0.001000 2.001000 total\n");
}

TEST_CASE("the overhead is taken off each call, and time never goes below zero") {
  auto options = counting();
  options.summary.overhead = std::chrono::microseconds(2);
  Stage stage(options);
  stage.call(10, getpid);
  stage.call(10, getpid);
  CHECK(stage.table().find("100.00    0.000002           1         2           getpid\n") != std::string::npos);

  options.summary.overhead = std::chrono::seconds(2);
  Stage slow(options);
  slow.call(10, getpid);
  CHECK(slow.table().find("  0.00    0.000000           0         1           getpid\n") != std::string::npos);
}

TEST_CASE("without -O the shortest time of a call counts as overhead") {
  auto options = counting();
  options.summary.overhead.reset();
  Stage stage(options);
  stage.call(10, getpid);
  stage.call(10, getpid);
  CHECK(stage.table().find("  0.00    0.000000           0         2           getpid\n") != std::string::npos);
}

TEST_CASE("each ABI has a table of its own") {
  Stage stage(counting());
  stage.call(10, getpid);
  stage.enter(10, getpid, 0, 0, 0, Abi::i386);
  stage.exit(10, 10, Abi::i386);
  const std::string table = stage.table();
  CHECK(table.find("total\nSystem call usage summary for 32 bit mode:\n% time ") != std::string::npos);
}

TEST_CASE("ltrace's table has one row for a name, whatever the ABI") {
  StageOptions options = counting();
  options.summary.ltrace = true;
  options.summary.columns = {SummaryColumn::calls, SummaryColumn::name};
  Stage stage(std::move(options));
  stage.call(10, getpid);
  stage.enter(10, getpid, 0, 0, 0, Abi::i386);
  stage.exit(10, 10, Abi::i386);
  const std::string table = stage.table();
  CHECK(table.find(" 2 getpid\n") != std::string::npos);
  CHECK(table.find("total") == table.rfind("total"));
}

TEST_CASE("option -C shows the calls as well") {
  Stage stage;
  stage.call(10, getpid, 0, 10);
  CHECK(stage.text() == "getpid()                                = 10\n");
  CHECK(stage.table().find("         1           getpid\n") != std::string::npos);
}

TEST_CASE("a class of times is at most an eighth wide, and the classes leave no gap") {
  for (unsigned bucket = 0; bucket + 1 < 488; ++bucket) {
    const auto start = latency_bucket_start(bucket);
    const auto next = latency_bucket_start(bucket + 1);
    REQUIRE(latency_bucket_of(start) == bucket);
    REQUIRE(latency_bucket_of(next - 1) == bucket);
    REQUIRE(next - start <= std::max(1ULL, start / 8));
  }
  CHECK(latency_bucket_of(~0ULL) < latency_buckets);
}

TEST_CASE("percentiles and histograms are those of elapsed time") {
  auto options = counting();
  options.summary.columns = {SummaryColumn::calls, SummaryColumn::p50, SummaryColumn::p99, SummaryColumn::name};
  options.summary.histogram = true;
  Stage stage(options);
  for (int i = 0; i < 99; ++i) {
    stage.call(10, getpid);
  }
  stage.call(10, close_fd, 3);
  CHECK(stage.table() ==
        "    calls      p50 us      p99 us syscall\n"
        "--------- ----------- ----------- ----------------\n"
        "       99    1000.000    1000.000 getpid\n"
        "        1    1000.000    1000.000 close\n"
        "--------- ----------- ----------- ----------------\n"
        "      100    1000.000    1000.000 total\n"
        "\n"
        "getpid:\n"
        "   512 us ..   1 ms          99 |****************************************|\n"
        "\n"
        "close:\n"
        "   512 us ..   1 ms           1 |****************************************|\n");
}

TEST_CASE("percentiles are the times that so many percent of the calls did not exceed, to an eighth") {
  render::SummaryOptions options;
  options.columns = {SummaryColumn::p50, SummaryColumn::p95, SummaryColumn::p99, SummaryColumn::name};
  const spec::TableSet set = test_tables();
  const spec::Tables tables = set.view();
  render::Summary summary(tables, options);
  for (int i = 1; i <= 100; ++i) {
    render::SummaryCall call;
    call.number = getpid;
    call.wall_time = std::chrono::microseconds(i);
    summary.count(call);
  }
  TextBuffer table;
  summary.write(table, Abi::x86_64);
  INFO(table.view());
  CHECK(std::string(table.view()).find("     53.247      98.303     100.000 getpid\n") != std::string::npos);
}

TEST_CASE("sums may be estimated where nothing else of times shows") {
  const auto sums_alone = [](auto change) {
    render::SummaryOptions options;
    change(options);
    return options.wants_sums_only();
  };
  CHECK(sums_alone([](render::SummaryOptions&) {}));
  CHECK(sums_alone([](render::SummaryOptions& options) { options.sort_by = SummaryColumn::calls; }));
  CHECK(!sums_alone([](render::SummaryOptions& options) { options.sort_by = SummaryColumn::max_time; }));
  CHECK(!sums_alone([](render::SummaryOptions& options) { options.wall_clock = true; }));
  CHECK(!sums_alone([](render::SummaryOptions& options) { options.histogram = true; }));
  for (const SummaryColumn column :
       {SummaryColumn::min_time, SummaryColumn::max_time, SummaryColumn::wall_total, SummaryColumn::wall_min,
        SummaryColumn::wall_max, SummaryColumn::wall_avg, SummaryColumn::p50, SummaryColumn::p95, SummaryColumn::p99}) {
    CHECK(!sums_alone([column](render::SummaryOptions& options) { options.columns.push_back(column); }));
  }
}

TEST_CASE("counts that somebody else made are added up") {
  const spec::TableSet set = test_tables();
  const spec::Tables tables = set.view();
  render::Summary summary(tables, [] {
    render::SummaryOptions options;
    options.columns = {SummaryColumn::calls, SummaryColumn::errors, SummaryColumn::p50, SummaryColumn::name};
    options.overhead.emplace(0);
    return options;
  }());
  std::vector<std::uint64_t> latencies(latency_buckets);
  latencies[latency_bucket_of(2000)] = 3;
  const render::SummaryTimes times{std::chrono::microseconds(6), std::chrono::microseconds(2),
                                   std::chrono::microseconds(2)};
  summary.add({Abi::x86_64, getpid, 3, 1, times, times, latencies});
  summary.add({Abi::x86_64, getpid, 3, 0, times, times, latencies});
  TextBuffer text;
  summary.write(text, Abi::x86_64);
  CHECK(text.view().find("        6         1       2.000 getpid\n") != std::string_view::npos);
}

}  // namespace tracer::test
