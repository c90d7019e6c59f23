#include "bpf/uprobe_counter.h"

#include <bpf/bpf.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "bpf/embedded.h"
#include "bpf/engine.h"
#include "bpf/kernel_version.h"
#include "bpf/uprobe_links.h"

namespace tracer::bpf {
namespace {

/// The kernel takes up to a tenth of a second to take each away.
constexpr std::size_t most_singles = 16;

/// Before 6.12 (commit 900f362e2062), they saw all processes that have the memory in common.
constexpr std::pair<unsigned long, unsigned long> chosen_by_process_since{6, 12};

}  // namespace

Result<std::shared_ptr<trace::FunctionCounter>> make_function_counter(
    std::function<void(const std::string&)> complain) {
  auto programs = KernelPrograms::open(functions_object(), "functions");
  if (!programs) {
    return programs.error();
  }
  if (::access("/sys/bus/event_source/devices/uprobe", F_OK) != 0) {
    return Error{ENOTSUP, "the kernel has no uprobes; it has to be built with CONFIG_UPROBE_EVENTS"};
  }
  auto counter = std::make_shared<UprobeCounter>(std::move(programs).value(),
                                                 kernel_version() >= many_uprobes_at_once_since, std::move(complain));
  if (const Status loaded = counter->load(); !loaded) {
    return loaded.error();
  }
  return std::shared_ptr<trace::FunctionCounter>(std::move(counter));
}

UprobeCounter::UprobeCounter(KernelPrograms programs, bool many_at_once,
                             std::function<void(const std::string&)> complain)
    : programs_(std::move(programs)), many_at_once_(many_at_once), complain_(std::move(complain)) {}

UprobeCounter::~UprobeCounter() = default;

Status UprobeCounter::load() {
  if (many_at_once_) {
    programs_.attach_as("on_place", many_uprobes_attach_type);
    programs_.initial<functions_settings>(".rodata.settings").chosen =
        kernel_version() >= chosen_by_process_since ? 1 : 0;
  }
  if (const Status loaded = programs_.load(); !loaded) {
    return loaded.error();
  }
  const auto shared = programs_.live<functions_shared>(".data.shared");
  const auto counts = programs_.live<function_counts>("counts");
  const auto places = programs_.live<function_places>("places");
  if (!shared || !counts || !places) {
    return !shared ? shared.error() : !counts ? counts.error() : places.error();
  }
  shared_ = shared.value();
  counts_ = counts.value();
  places_ = places.value();
  return programs_.iterate("find_space");
}

UprobeCounter::Process& UprobeCounter::process_of(pid_t id) {
  Process& process = processes_[id];
  if (process.number == 0) {
    process.number = set_number(id, last_process_ + 1) ? ++last_process_ : 0;
  }
  return process;
}

bool UprobeCounter::set_number(pid_t id, std::uint32_t number) {
  const auto key = static_cast<std::uint32_t>(id);
  return bpf_map_update_elem(programs_.map_fd("processes"), &key, &number, BPF_ANY) == 0;
}

bool UprobeCounter::share(pid_t child, pid_t parent) {
  // Single uprobes are by memory, those of many places by process.
  const auto known = processes_.find(parent);
  return !many_at_once_ && known != processes_.end() && set_number(child, known->second.number);
}

bool UprobeCounter::take(Process& process, const Place& place) {
  if (process.number == 0 || process.places.contains(place.address) ||
      (free_places_.empty() && fresh_places_ == most_places)) {
    return false;
  }
  std::uint32_t index = 0;
  if (free_places_.empty()) {
    index = fresh_places_++;
  } else {
    index = free_places_.back();
    free_places_.pop_back();
  }
  process.places[place.address] = index;
  process.by_caller = process.by_caller || place.by_caller;
  std::uint32_t flags = 0;
  const auto set = [&flags](bool holds, place_flags flag) { flags |= holds ? static_cast<std::uint32_t>(flag) : 0U; };
  set(place.by_caller, place_by_caller);
  set(place.is_stub, place_is_stub);
  set(place.is_narrow, place_is_narrow);
  places_->at[index] = {process.number, flags, place.symbol, 0};
  return true;
}

void UprobeCounter::give_up(Process& process, const Place& place) {
  const auto at = process.places.find(place.address);
  release(at->second);
  process.places.erase(at);
}

void UprobeCounter::release(std::uint32_t place) {
  places_->at[place] = {};
  for (auto& shard : counts_->of) {
    shard[place] = 0;
  }
  free_places_.push_back(place);
}

void UprobeCounter::watch(pid_t process, const std::string& file, std::span<Place> places) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) {
    return;
  }
  const auto in_file = [&](const Place& place) { return FilePlace(info.st_dev, info.st_ino, place.offset); };
  Process& known = process_of(process);
  std::vector<Place> taken;
  std::size_t by_uprobes = by_uprobes_;
  for (const Place& place : places) {
    const auto decided = decided_.find(in_file(place));
    const bool is_new = decided == decided_.end();
    const bool is_for_us = is_new ? many_at_once_ || by_uprobes < most_singles : decided->second;
    if (is_for_us && take(known, place)) {
      taken.push_back(place);
      by_uprobes += is_new ? 1 : 0;
    }
  }
  (many_at_once_ ? attach_many(process, known, file, taken) : attach_single(process, known, file, taken));
  std::size_t missing = 0;
  for (Place& place : places) {
    place.counts = known.places.contains(place.address);
    const auto [decided, is_new] = decided_.try_emplace(in_file(place), place.counts);
    if (is_new) {
      by_uprobes_ += place.counts ? 1 : 0;
    } else if (decided->second && !place.counts) {
      place.counts = true;  // a breakpoint would not do better
      ++missing;
    }
  }
  if (missing != 0) {
    complain_(
        fmt::format("calls of {} functions in process {} are missing: the kernel has no room for more uprobes; choose "
                    "fewer functions",
                    missing, process));
  }
}

void UprobeCounter::attach_many(pid_t id, Process& process, const std::string& file, std::span<const Place> places) {
  if (places.empty()) {
    return;
  }
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> cookies;
  for (const Place& place : places) {
    offsets.push_back(place.offset);
    cookies.push_back(process.places[place.address]);
  }
  UniqueFd made = attach_uprobes({programs_.program("on_place"), file, offsets, cookies, id});
  if (made.valid()) {
    process.probes[places.front().address] = std::move(made);
  } else if (places.size() == 1) {
    give_up(process, places.front());
  } else {
    // One that the kernel cannot take spoils all.
    attach_many(id, process, file, places.first(places.size() / 2));
    attach_many(id, process, file, places.subspan(places.size() / 2));
  }
}

void UprobeCounter::attach_single(pid_t id, Process& process, const std::string& file, std::span<const Place> places) {
  for (const Place& place : places) {
    bpf_uprobe_opts options{};
    options.sz = sizeof options;
    options.bpf_cookie = process.places[place.address];
    std::unique_ptr<bpf_link, Free> link(
        bpf_program__attach_uprobe_opts(programs_.program("on_place"), id, file.c_str(), place.offset, &options));
    if (link) {
      process.probes[place.address] = std::move(link);
    } else {
      give_up(process, place);
    }
  }
}

std::vector<trace::FunctionCounter::Count> UprobeCounter::take(pid_t process) {
  std::vector<Count> result;
  const auto known = processes_.find(process);
  if (known == processes_.end()) {
    return result;
  }
  for (const auto& [address, place] : known->second.places) {
    std::uint64_t calls = 0;
    for (auto& shard : counts_->of) {
      calls += __atomic_exchange_n(&shard[place], 0, __ATOMIC_RELAXED);
    }
    if (calls != 0) {
      result.push_back({address, 0, calls});
    }
  }
  if (known->second.by_caller) {
    take_call_sites(known->second, result);
  }
  if (const std::uint64_t lost = __atomic_exchange_n(&shared_->lost, 0, __ATOMIC_RELAXED); lost != 0) {
    complain_(fmt::format("{} calls are missing: there was no room to note who made them", lost));
  }
  return result;
}

void UprobeCounter::take_call_sites(const Process& process, std::vector<Count>& into) {
  std::map<std::uint32_t, std::uint64_t> addresses;
  for (const auto& [address, place] : process.places) {
    addresses[place] = address;
  }
  const int map = programs_.map_fd("call_sites");
  std::vector<call_site> taken;
  call_site site{};
  for (bool more = bpf_map_get_next_key(map, nullptr, &site) == 0; more;
       more = bpf_map_get_next_key(map, &site, &site) == 0) {
    if (addresses.contains(site.place)) {
      taken.push_back(site);
    }
  }
  for (const call_site& one : taken) {
    std::uint64_t calls = 0;
    if (bpf_map_lookup_elem(map, &one, &calls) == 0 && bpf_map_delete_elem(map, &one) == 0) {
      into.push_back({addresses[one.place], one.return_address, calls});
    }
  }
}

void UprobeCounter::forget(pid_t process, std::uint64_t start, std::uint64_t end) {
  const auto known = processes_.find(process);
  const auto key = static_cast<std::uint32_t>(process);
  if (known == processes_.end()) {
    bpf_map_delete_elem(programs_.map_fd("processes"), &key);
    return;
  }
  Process& from = known->second;
  from.probes.erase(from.probes.lower_bound(start), from.probes.lower_bound(end));
  take_between(from.places, start, end, [this](std::uint32_t place) { release(place); });
  if (from.places.empty()) {
    bpf_map_delete_elem(programs_.map_fd("processes"), &key);
    processes_.erase(known);
  }
}

}  // namespace tracer::bpf
