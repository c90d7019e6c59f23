#include "bpf/counting_engine.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>

#include <ctime>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/latency_bucket.h"
#include "base/require.h"
#include "bpf/embedded.h"

namespace tracer::bpf {
namespace {

/// The times of `timed`, which stand for so many calls, taken for those of all `calls`: a call that is not timed may
/// end on another CPU than the one that is to stand for it, so it takes the sums of all CPUs.
std::chrono::nanoseconds estimate(std::chrono::nanoseconds timed, std::uint64_t represented, std::uint64_t calls) {
  const auto time = static_cast<long double>(timed.count());
  return std::chrono::nanoseconds(represented == 0 ? 0
                                                   : static_cast<std::int64_t>(time * static_cast<long double>(calls) /
                                                                               static_cast<long double>(represented)));
}

void merge(trace::TimeTotals& sum, const counting_times& times, bool first) {
  const auto nanoseconds = [](std::uint64_t time) { return std::chrono::nanoseconds(time); };
  sum.total += nanoseconds(times.total);
  sum.shortest = first ? nanoseconds(times.shortest) : std::min(sum.shortest, nanoseconds(times.shortest));
  sum.longest = std::max(sum.longest, nanoseconds(times.longest));
}

void merge(trace::TimeTotals& sum, counting_sample& of_all, const counting_totals& part) {
  of_all.represented += part.sample.represented;
  of_all.alone += part.sample.alone;
  if (part.cpu.longest != 0) {  // else all that were timed are long
    merge(sum, part.cpu, sum.longest == std::chrono::nanoseconds(0));
  }
}

/// Nanoseconds. clock_getres(2): what the coarse clocks resolve is what the timer interrupt makes of them.
std::uint64_t time_between_ticks() {
  timespec tick{};
  require(::clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0, "the coarse clock has a resolution");
  return static_cast<std::uint64_t>(tick.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(tick.tv_nsec);
}

constexpr std::size_t most_reports_at_once = 1024;

}  // namespace

Result<std::unique_ptr<trace::Engine>> make_counting_engine(process::EngineOptions options,
                                                            std::function<void(const std::string&)> complain) {
  auto programs = KernelPrograms::open(counting_object(), "counting");
  if (!programs) {
    return programs.error();
  }
  auto engine = std::make_unique<CountingEngine>(std::move(options), std::move(complain), std::move(programs).value());
  if (const Status loaded = engine->load(); !loaded) {
    return loaded.error();
  }
  return std::unique_ptr<trace::Engine>(std::move(engine));
}

CountingEngine::~CountingEngine() = default;

Status CountingEngine::load() {
  auto& settings = programs_.initial<counting_settings>(".rodata.settings");
  settings.latencies = options_.latencies ? 1 : 0;
  settings.sampled = options_.sampled ? 1 : 0;
  settings.tick = time_between_ticks();
  if (!options_.latencies) {
    programs_.resize("latencies", 1);
  }
  programs_.resize("totals", static_cast<std::uint32_t>(std::max(libbpf_num_possible_cpus(), 1)) * counting_slots);
  if (const Status chosen = choose_threads(settings.threads); !chosen) {
    return chosen.error();
  }
  if (const Status loaded = programs_.load(); !loaded) {
    return loaded.error();
  }
  const auto shared = programs_.live<counting_shared>(".data.shared");
  if (!shared) {
    return shared.error();
  }
  shared_ = shared.value();
  const auto totals = programs_.live_elements<counting_totals>("totals");
  if (!totals) {
    return totals.error();
  }
  totals_ = totals.value();
  auto ring = RecordRing::open(programs_.map_fd("lifecycles"), programs_.map_entries("lifecycles"));
  if (!ring) {
    return ring.error();
  }
  ring_ = std::move(ring).value();
  return watch_threads(shared_->threads);
}

int CountingEngine::reports() const {
  return programs_.map_fd("lifecycles");
}

void CountingEngine::conclude() {
  std::vector<trace::CallTotals> totals = read_totals();
  if (options_.latencies) {
    read_latencies(totals);
  }
  handler_->totals(totals);
  complain_of_unsorted();
}

KernelEngine::Next CountingEngine::take_reports() {
  const auto take = [this](std::span<const std::byte> record) { on_lifecycle(record); };
  return ring_->consume(most_reports_at_once, take) != 0 ? Next::now : Next::when_woken;
}

void CountingEngine::take_rest(const std::function<bool()>& go_on) {
  while (go_on() && take_reports() == Next::now) {
  }
}

void CountingEngine::on_lifecycle(std::span<const std::byte> record) {
  lifecycle_report report{};
  std::memcpy(&report, record.data(), std::min(sizeof report, record.size()));
  const auto tid = static_cast<pid_t>(report.tid);
  const auto tgid = static_cast<pid_t>(report.tgid);
  if (report.kind == lifecycle_fork) {
    on_fork(tid, tgid, static_cast<pid_t>(report.parent));
  } else if (tracees_.erase(tid) != 0) {
    hand_out(tid, tgid, trace::Exited{report.status});
  }
}

std::vector<trace::CallTotals> CountingEngine::read_totals() const {
  std::vector<trace::CallTotals> result;
  for (std::size_t slot = 0; slot < counting_slots; ++slot) {
    trace::CallTotals sum;
    sum.abi = static_cast<Abi>(slot / numbers_per_abi);
    sum.number = slot % numbers_per_abi;
    counting_sample sample{};
    for (std::size_t place = slot; place < totals_.size(); place += counting_slots) {
      const counting_totals& part = totals_[place];
      if (part.calls == 0) {
        continue;
      }
      if (options_.sampled) {
        merge(sum.cpu, sample, part);
      } else {
        merge(sum.cpu, part.cpu, sum.calls == 0);
        merge(sum.wall, part.wall, sum.calls == 0);
      }
      sum.calls += part.calls;
      sum.errors += part.errors;
    }
    if (options_.sampled) {
      sum.cpu.total = estimate(sum.cpu.total, sample.represented, sum.calls) + std::chrono::nanoseconds(sample.alone);
    }
    if (sum.calls != 0) {
      result.push_back(sum);
    }
  }
  return result;
}

void CountingEngine::read_latencies(std::vector<trace::CallTotals>& totals) const {
  const int map = programs_.map_fd("latencies");
  const auto cpus = static_cast<std::size_t>(std::max(libbpf_num_possible_cpus(), 1));
  std::vector<std::uint64_t> parts(cpus);
  latency_key key{};
  for (bool more = bpf_map_get_next_key(map, nullptr, &key) == 0; more;
       more = bpf_map_get_next_key(map, &key, &key) == 0) {
    const auto call = std::find_if(totals.begin(), totals.end(), [&key](const trace::CallTotals& sum) {
      return index_of(sum.abi) * numbers_per_abi + sum.number == key.slot;
    });
    if (call != totals.end() && key.bucket < latency_buckets && bpf_map_lookup_elem(map, &key, parts.data()) == 0) {
      call->latencies.resize(latency_buckets);
      call->latencies[key.bucket] = std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
    }
  }
}

void CountingEngine::complain_of_unsorted() {
  if (const std::uint64_t unsorted = shared_->unsorted; unsorted != 0) {
    complain_(fmt::format(
        "the histograms and percentiles miss {} calls, for which there was no room; choose fewer calls with -e",
        unsorted));
  }
}

}  // namespace tracer::bpf
