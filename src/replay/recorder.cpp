#include "replay/recorder.h"

#include <algorithm>
#include <new>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "decoders/decoders.h"

namespace tracer::replay {
namespace {

/// The longest time that events wait for their block to be written: what a tracer that is killed loses.
constexpr std::chrono::seconds longest_block(1);

pipeline::PipelineOptions pipeline_options(const RecorderOptions& options) {
  pipeline::PipelineOptions result;
  result.filter.calls = options.calls;
  result.abbreviate = filter::SyscallSet{};
  result.native = options.head.native;
  result.launched = !options.head.program.empty();
  result.stacks = options.stacks;
  result.prototypes = options.prototypes;
  return result;
}

decode::Options decoder_options(const RecorderOptions& options) {
  decode::Options result;
  result.string_limit = options.head.string_limit;
  return result;
}

}  // namespace

Recorder::Recorder(RecorderOptions options, const spec::Tables& tables, std::unique_ptr<BlockWriter> file,
                   trace::EventHandler& live)
    : stacks_(options.stacks),
      names_(facts_, std::move(options.functions)),
      decoder_(tables, decoder_options(options), names_.names(), decoders::all()),
      view_(decoder_, names_, options.head.native, std::move(options.triggers)),
      capture_(pipeline_options(options), tables, decoder_, names_, view_, nullptr, [](std::string_view) {}),
      live_(live),
      writer_(tables),
      file_(std::move(file)) {
  block_ = encode(options.head);
  file_->write(Mark{}, block_);
}

Recorder::~Recorder() {
  try {
    end_block();
  } catch (const std::bad_alloc&) {
    // The file ends without its last block: nothing else can be done where there is no memory.
  }
  file_.reset();
  if (former_mask_) {
    ::pthread_sigmask(SIG_SETMASK, &*former_mask_, nullptr);
  }
}

void Recorder::block_signal() {
  if (file_->by_signal() && !former_mask_) {
    sigset_t awaited;
    ::sigemptyset(&awaited);
    ::sigaddset(&awaited, SIGUSR1);
    ::pthread_sigmask(SIG_BLOCK, &awaited, &former_mask_.emplace());
  }
}

trace::Verdict Recorder::handle(const trace::Event& event, const trace::Memory& memory) {
  const trace::CallContext* context = nullptr;
  if (const auto* enter = std::get_if<trace::LibraryEnter>(&event.what)) {
    context = enter->context;
  } else if (const auto* exit = std::get_if<trace::LibraryExit>(&event.what)) {
    context = exit->context;
  }
  if (context == nullptr) {
    return pass(event, memory);
  }
  const KeptContext kept(*context, facts_);
  trace::Event with_kept = event;
  if (auto* enter = std::get_if<trace::LibraryEnter>(&with_kept.what)) {
    enter->context = &kept;
  } else if (auto* exit = std::get_if<trace::LibraryExit>(&with_kept.what)) {
    exit->context = &kept;
  }
  return pass(with_kept, memory);
}

trace::Verdict Recorder::pass(const trace::Event& event, const trace::Memory& memory) {
  block_signal();
  facts_.clear();
  if (stacks_ != nullptr) {
    stacks_->begin();
  }
  const KeptMemory kept(memory, facts_.memory);
  capture_.handle(event, kept);
  const trace::Verdict verdict = live_.handle(event, kept);
  if (is_wanted(event)) {
    if (stacks_ != nullptr) {
      stacks_->copy_to(facts_);
    }
    if (writer_.empty()) {
      block_due_ = event.time.monotonic + longest_block;
    }
    writer_.write(event, facts_);
    if (writer_.size() >= block_size || event.time.monotonic >= block_due_) {
      end_block();
    }
  }
  if (view_.take_triggered()) {
    end_block();
    file_->trigger();
  }
  return verdict;
}

bool Recorder::is_wanted(const trace::Event& event) {
  const bool begun = view_.take_begun();
  const bool ended = view_.take_ended();
  if (std::holds_alternative<trace::SyscallEnter>(event.what)) {
    return begun;
  }
  const bool is_end =
      std::holds_alternative<trace::SyscallExit>(event.what) || std::holds_alternative<trace::SyscallLost>(event.what);
  return !is_end || ended;
}

void Recorder::end_block() {
  if (writer_.empty()) {
    return;
  }
  Mark mark = writer_.take(block_);
  mark.sequence = sequence_++;
  mark.lost = lost_;
  file_->write(mark, block_);
}

void Recorder::lost(std::uint64_t events) {
  lost_ += events;
  writer_.write_lost(events);
  live_.lost(events);
}

std::optional<std::chrono::nanoseconds> Recorder::alarm_at() const {
  const auto live = live_.alarm_at();
  if (writer_.empty()) {
    return live;
  }
  return live ? std::min(*live, block_due_) : block_due_;
}

trace::Verdict Recorder::on_alarm() {
  const auto now = clock_now(CLOCK_MONOTONIC);
  if (!writer_.empty() && block_due_ <= now) {
    end_block();
  }
  const auto live = live_.alarm_at();
  return live && *live <= now ? live_.on_alarm() : trace::Verdict::go_on;
}

}  // namespace tracer::replay
