#include "bpf/uprobe_recorder.h"

#include <fmt/core.h>
#include <linux/bpf.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "arch/arch.h"
#include "base/clock.h"
#include "bpf/captured_memory.h"
#include "bpf/embedded.h"
#include "bpf/kernel_clock.h"
#include "bpf/kernel_version.h"
#include "bpf/record_front.h"
#include "bpf/uprobe_links.h"

namespace tracer::bpf {
namespace {

/// Of the slots of a static probe's operands, from here on those that hold what is loaded from memory.
constexpr std::uint8_t first_of_probe = most_sources;

}  // namespace

Result<std::shared_ptr<trace::FunctionRecorder>> make_function_recorder(RecordingOptions options) {
  if (kernel_version() < many_uprobes_at_once_since) {
    return Error{ENOTSUP, "static probes are recorded in the kernel since Linux 6.10, calls of functions since 6.13"};
  }
  if (::access("/sys/bus/event_source/devices/uprobe", F_OK) != 0) {
    return Error{ENOTSUP, "the kernel has no uprobes; it has to be built with CONFIG_UPROBE_EVENTS"};
  }
  auto programs = KernelPrograms::open(function_records_object(), "functions");
  if (!programs) {
    return programs.error();
  }
  auto recorder = std::make_shared<UprobeRecorder>(std::move(programs).value(), std::move(options));
  if (const Status loaded = recorder->load(); !loaded) {
    return loaded.error();
  }
  return std::shared_ptr<trace::FunctionRecorder>(std::move(recorder));
}

UprobeRecorder::UprobeRecorder(KernelPrograms programs, RecordingOptions options)
    : programs_(std::move(programs)),
      options_(std::move(options)),
      records_calls_(kernel_version() >= uprobe_sessions_since) {}

Status UprobeRecorder::load() {
  programs_.attach_as("on_place", many_uprobes_attach_type);
  if (records_calls_) {
    programs_.attach_as("on_function", uprobe_session_attach_type);
  } else {
    programs_.leave_out("on_function");
  }
  programs_.resize("records", options_.buffer_size);
  if (const Status loaded = programs_.load(); !loaded) {
    return loaded.error();
  }
  const auto shared = programs_.live<thread_shared>(".data.shared");
  const auto places = programs_.live_elements<recorded_place>("places");
  if (!shared || !places) {
    return !shared ? shared.error() : places.error();
  }
  auto ring = RecordRing::open(programs_.map_fd("records"), programs_.map_entries("records"));
  if (!ring) {
    return ring.error();
  }
  shared_ = shared.value();
  places_ = places.value();
  ring_.emplace(std::move(ring).value());
  realtime_offset_ = clock_now(CLOCK_REALTIME) - clock_now(CLOCK_MONOTONIC);
  const auto before = clock_now(CLOCK_MONOTONIC);
  Status found = programs_.iterate("find_space");
  clock_offset_ = kernel_clock_offset(before, shared_->clock, clock_now(CLOCK_MONOTONIC));
  return found;
}

std::uint64_t UprobeRecorder::lost() const {
  return __atomic_load_n(&shared_->lost, __ATOMIC_RELAXED);
}

std::optional<std::uint16_t> UprobeRecorder::operations_at(const std::vector<capture_operation>& operations) {
  if (operations.empty()) {
    return 0;
  }
  const std::string key(reinterpret_cast<const char*>(operations.data()), operations.size() * sizeof operations[0]);
  if (const auto known = known_operations_.find(key); known != known_operations_.end()) {
    return known->second;
  }
  if (operations.size() > operations_per_plan || operations_.size() + operations.size() > most_operations) {
    return std::nullopt;
  }
  const auto first = static_cast<std::uint16_t>(operations_.size());
  operations_.insert(operations_.end(), operations.begin(), operations.end());
  if (!programs_.fill("operations", std::as_bytes(std::span(operations_)))) {
    return std::nullopt;
  }
  return known_operations_[key] = first;
}

capture::FunctionPlan UprobeRecorder::plan_of_probe(const Place& place, std::uint32_t string_limit) {
  capture::FunctionPlan plan;
  for (std::uint8_t i = 0; i < std::min<std::size_t>(place.numbers.size(), most_sources); ++i) {
    plan.words.push_back(i);
    const std::uint8_t size = place.numbers[i].size;
    std::uint8_t pointer = i;
    if (size != 0) {
      pointer = static_cast<std::uint8_t>(first_of_probe + i);
      plan.entry.push_back(capture::bytes_at(i, size));
      plan.entry.push_back(capture::load_from(i, pointer, size));
    }
    plan.entry.push_back(capture::text_at(pointer, string_limit + 2));
  }
  return plan;
}

bool UprobeRecorder::plan(recorded_place& kernel, const Place& place, const capture::FunctionPlan& plan) {
  const auto entry = operations_at(plan.entry);
  const auto exit = operations_at(plan.exit);
  if (!entry || !exit) {
    return false;
  }
  kernel.plan.entry_first = *entry;
  kernel.plan.entry_count = static_cast<std::uint8_t>(plan.entry.size());
  kernel.plan.exit_first = *exit;
  kernel.plan.exit_count = static_cast<std::uint8_t>(plan.exit.size());
  kernel.sources = static_cast<std::uint32_t>(std::min<std::size_t>(plan.words.size(), most_sources));
  for (std::size_t i = 0; i < kernel.sources; ++i) {
    const std::uint8_t word = plan.words[i];
    const trace::RecordedNumber number = word < place.numbers.size() ? place.numbers[word] : trace::RecordedNumber{};
    // An operand in memory is copied by the plan, which has its address.
    const bool is_address = place.function == nullptr;
    kernel.source[i] = {number.base, number.index,       number.scale, is_address ? std::uint8_t{0} : number.size,
                        0,           number.displacement};
  }
  return true;
}

bool UprobeRecorder::take(pid_t id, Process& process, Abi abi, const Place& place) {
  if (process.places.contains(place.address) || (free_places_.empty() && addresses_.size() == most_recorded_places)) {
    return false;
  }
  if (place.function != nullptr && !records_calls_) {
    return false;
  }
  const auto wanted = place.function != nullptr ? options_.plan(*place.function, abi, id)
                                                : std::optional(plan_of_probe(place, options_.string_limit));
  recorded_place kernel{};
  if (!wanted || !plan(kernel, place, *wanted)) {
    return false;
  }
  kernel.flags = recorded_in_use;
  kernel.address = place.probed;
  kernel.flags |= place.function != nullptr ? std::uint32_t{recorded_is_call} : 0U;
  if (place.errno_place) {
    kernel.flags |= recorded_has_errno;
    kernel.errno_offset = place.errno_place->offset;
    kernel.errno_word = place.errno_place->word;
  }
  std::uint32_t index = 0;
  if (free_places_.empty()) {
    index = static_cast<std::uint32_t>(addresses_.size());
    addresses_.push_back(place.address);
  } else {
    index = free_places_.back();
    free_places_.pop_back();
    addresses_[index] = place.address;
  }
  places_[index] = kernel;
  process.places[place.address] = index;
  return true;
}

void UprobeRecorder::release(std::uint32_t place) {
  places_[place] = {};
  addresses_[place] = 0;
  retired_places_.push_back(place);
}

void UprobeRecorder::watch(pid_t process, Abi abi, const std::string& file, std::span<Place> places) {
  Process& known = processes_[process];
  std::vector<Place> calls;
  std::vector<Place> probes;
  for (const Place& place : places) {
    if (take(process, known, abi, place)) {
      (place.function != nullptr ? calls : probes).push_back(place);
    }
  }
  attach(process, known, file, calls, true);
  attach(process, known, file, probes, false);
  for (Place& place : places) {
    place.recorded = known.places.contains(place.address);
  }
}

void UprobeRecorder::attach(pid_t id, Process& process, const std::string& file, std::span<const Place> places,
                            bool calls) {
  if (places.empty()) {
    return;
  }
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> cookies;
  for (const Place& place : places) {
    offsets.push_back(place.offset);
    cookies.push_back(process.places[place.address]);
  }
  UniqueFd link = attach_uprobes({programs_.program(calls ? "on_function" : "on_place"), file, offsets, cookies, id,
                                  calls ? uprobe_session_attach_type : many_uprobes_attach_type});
  if (link.valid()) {
    process.links[places.front().address] = std::move(link);
  } else if (places.size() == 1) {
    const auto at = process.places.find(places.front().address);
    release(at->second);
    process.places.erase(at);
  } else {
    // One that the kernel cannot take spoils all.
    attach(id, process, file, places.first(places.size() / 2), calls);
    attach(id, process, file, places.subspan(places.size() / 2), calls);
  }
}

void UprobeRecorder::take(const std::function<void(const Hit&)>& handle) {
  constexpr std::size_t all_of_them = 1U << 20;
  constexpr unsigned most_tries = 1000;
  constexpr std::chrono::microseconds pause(100);
  // A thread may have lost its CPU while it writes a record, and behind that may be those of one that has stopped.
  const auto retired = static_cast<std::ptrdiff_t>(retired_places_.size());
  const std::uint64_t end = ring_->end();
  for (unsigned tries = 0; tries < most_tries; ++tries) {
    ring_->consume(all_of_them, [&](std::span<const std::byte> record) { deliver(record, handle); });
    if (ring_->has_passed(end)) {
      free_places_.insert(free_places_.end(), retired_places_.begin(), retired_places_.begin() + retired);
      retired_places_.erase(retired_places_.begin(), retired_places_.begin() + retired);
      return;
    }
    std::this_thread::sleep_for(pause);
  }
}

void UprobeRecorder::deliver(std::span<const std::byte> record, const std::function<void(const Hit&)>& handle) {
  const auto front = front_of<function_record>(record);
  if (record.size() < sizeof front || front.head.number >= addresses_.size()) {
    return;
  }
  const auto chunks = record.subspan(sizeof front);
  const bool is_call = (places_[front.head.number].flags & recorded_is_call) != 0;
  Hit hit;
  hit.tid = static_cast<pid_t>(front.head.tid);
  hit.is_return = front.head.kind == record_returned;
  hit.return_unseen = (front.flags & record_return_unseen) != 0;
  if (is_call && !hit.is_return && !hit.return_unseen) {
    entries_.keep(hit.tid, front.stack_pointer, front.head.number, chunks);
  }
  const CapturedMemory memory(
      chunks, hit.is_return ? entries_.take(hit.tid, front.stack_pointer, front.head.number) : EntryChunks::Bytes());
  hit.time.monotonic = std::chrono::nanoseconds(front.head.time) - clock_offset_;
  hit.time.realtime = hit.time.monotonic + realtime_offset_;
  hit.address = addresses_[front.head.number];
  hit.stack_pointer = front.stack_pointer;
  hit.registers = std::as_bytes(std::span(front.registers));
  hit.error = (front.flags & record_has_error) != 0 ? std::optional(front.error) : std::nullopt;
  hit.memory = &memory;
  handle(hit);
}

void UprobeRecorder::leave_returns(pid_t process) {
  if (const auto known = processes_.find(process); known != processes_.end()) {
    for (const auto& [address, place] : known->second.places) {
      __atomic_fetch_or(&places_[place].flags, std::uint32_t{recorded_leaves_returns}, __ATOMIC_RELAXED);
    }
  }
}

void UprobeRecorder::forget(pid_t process, std::uint64_t start, std::uint64_t end) {
  const auto known = processes_.find(process);
  if (known == processes_.end()) {
    return;
  }
  Process& from = known->second;
  from.links.erase(from.links.lower_bound(start), from.links.lower_bound(end));
  take_between(from.places, start, end, [this](std::uint32_t place) { release(place); });
  if (from.places.empty()) {
    processes_.erase(known);
  }
}

}  // namespace tracer::bpf
