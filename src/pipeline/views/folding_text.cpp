#include "pipeline/views/folding_text.h"

#include <utility>

#include "pipeline/named_arguments.h"

namespace tracer::pipeline::views {

namespace {

/// A call that takes as long is no noise, and is shown while it lasts.
constexpr std::chrono::milliseconds patience(100);
/// A run that lasts as long is closed, so that a person sees that something happens.
constexpr std::chrono::seconds longest_run(1);
constexpr std::size_t longest_path = 4096;  // PATH_MAX

NoisyResult result_of(const decode::Outcome& outcome) {
  return {outcome.value, outcome.is_error ? static_cast<int>(-outcome.value) : 0};
}

}  // namespace

FoldingTextView::FoldingTextView(TextViewOptions options, bool utf8, const spec::Tables& tables,
                                 const decode::Decoder& decoder, const names::Names& names, Channels channels)
    : TextView(std::move(options), tables, decoder, names, std::move(channels)), utf8_(utf8) {}

void FoldingTextView::thread_appears(Thread& thread, const Moment& moment) {
  TextView::thread_appears(thread, moment);
  runs_[thread.tid].thread = &thread;
}

void FoldingTextView::thread_goes(Thread& thread) {
  reveal(run_of(thread));
  runs_.erase(thread.tid);
  if (thread.gone && thread.tid == thread.tgid) {
    files_.erase(thread.tgid);
  }
  TextView::thread_goes(thread);
}

// ---------------------------------------------------------------------------------------------- calls

std::string FoldingTextView::read_path(RemoteAddr address, const trace::Memory& memory) const {
  std::array<std::byte, longest_path> raw;
  const std::size_t got = memory.read(address, raw);
  const std::string_view bytes(reinterpret_cast<const char*>(raw.data()), got);
  const auto end = bytes.find('\0');
  return std::string(bytes.substr(0, end == std::string_view::npos ? 0 : end));
}

void FoldingTextView::describe(Run& run, const trace::Memory& memory) const {
  const Thread& thread = *run.thread;
  NoisyCall& call = run.call;
  call.name = decoder().name_of(*thread.state);
  call.path.clear();
  call.fd.reset();
  call.first_argument = decode::Decoder::arguments_of(*thread.state)[0];
  const spec::Signature* signature = decode::Decoder::signature_of(*thread.state);
  if (signature == nullptr) {
    return;
  }
  visit_named_arguments(
      tables(), *signature, thread.call.entry.abi, decode::Decoder::arguments_of(*thread.state),
      [&](std::int32_t fd, spec::Style) { call.fd = call.fd.value_or(fd); },
      [&](RemoteAddr path) {
        if (call.path.empty()) {
          call.path = read_path(path, memory);
        }
      });
}

const FoldRule* FoldingTextView::noise_of(const Run& run, const std::optional<NoisyResult>& result) {
  return find_noise(run.call, result, run.tally.calls() != 0, files_[run.thread->tgid], run.shown);
}

void FoldingTextView::call_begins(Thread& thread, const trace::Memory& memory) {
  reveal_waiting(thread.call.entered.monotonic);
  Run& run = run_of(thread);
  run.held = false;
  run.prefix_of_call = begin_held_line(thread, memory);
  if (thread.call.function == nullptr) {
    describe(run, memory);
    if (noise_of(run, std::nullopt) != nullptr) {
      run.held = true;
      return;
    }
  }
  if (!options().hold_calls) {
    close(run);
    show_held_line(thread);
  }
}

void FoldingTextView::call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) {
  Run& run = run_of(thread);
  const bool held = std::exchange(run.held, false);
  if (thread.call.function != nullptr || !end.outcome.known) {
    if (held || options().hold_calls) {
      close(run);
    }
    TextView::call_ends(thread, end, memory);
    return;
  }
  const NoisyResult result = result_of(end.outcome);
  const bool plain = end.stack.empty() && !end.tampered.arguments && !end.tampered.result && !end.tampered.delayed;
  const FoldRule* rule = held ? noise_of(run, result) : nullptr;
  if (rule != nullptr && plain && end.duration < patience) {
    fold(run, end, result, *rule, memory);
  } else {
    close(run);
    if (held && !options().hold_calls) {
      show_held_line(thread);
    }
    TextView::call_ends(thread, end, memory);
    run.shown.add(run.call, result);
  }
  remember(run, result, rule);
}

void FoldingTextView::remember(Run& run, const NoisyResult& result, const FoldRule* rule) {
  NoisyFiles& files = files_[run.thread->tgid];
  if (run.call.name == "close" && run.call.fd) {
    files.remove(*run.call.fd);
    run.shown.remove(*run.call.fd);
  } else if (run.call.name.starts_with("open") && result.error == 0) {
    const auto fd = static_cast<std::int32_t>(result.value);
    if (rule != nullptr && rule->by == FoldRule::By::path) {
      files.add(fd, *rule);
    } else {
      files.remove(fd);
    }
    run.shown.remove(fd);
  }
}

void FoldingTextView::fold(Run& run, const CallEnd& end, const NoisyResult& result, const FoldRule& rule,
                           const trace::Memory& memory) {
  Thread& thread = *run.thread;
  if (run.tally.calls() == 0) {
    complete_line(thread, end, memory);
    run.began = thread.call.entered.monotonic;
    run.prefix = run.prefix_of_call;
    run.first.clear();
    run.first.append(thread.line.view());
  }
  thread.line.clear();
  run.tally.add(rule, run.call, result, end.duration);
  if (end.time.monotonic - run.began >= longest_run) {
    close(run);
  }
}

void FoldingTextView::close(Run& run) {
  if (run.tally.calls() == 0) {
    return;
  }
  interrupt_owner(*run.thread->channel);
  if (run.tally.calls() > 1) {
    run.first.truncate(run.prefix);
    const render::Brush brush(run.first, options().calls.palette, render::Color::comment);
    run.first.append(run.tally.text(utf8_));
  }
  run.first.append('\n');
  channels().write(*run.thread->channel, run.first.view());
  run.tally.clear();
}

void FoldingTextView::reveal(Run& run) {
  close(run);
  if (std::exchange(run.held, false) && !options().hold_calls) {
    show_held_line(*run.thread);
  }
}

void FoldingTextView::reveal_all() {
  for (auto& [tid, run] : runs_) {
    reveal(run);
  }
}

void FoldingTextView::reveal_waiting(std::chrono::nanoseconds now) {
  if (now - looked_ < patience) {
    return;
  }
  looked_ = now;
  for (auto& [tid, run] : runs_) {
    if (run.held && now - run.thread->call.entered.monotonic >= patience) {
      reveal(run);
    } else if (now - run.began >= longest_run) {
      close(run);
    }
  }
}

void FoldingTextView::call_is_lost(Thread& thread, const Moment& moment) {
  reveal(run_of(thread));
  TextView::call_is_lost(thread, moment);
}

void FoldingTextView::call_is_dropped(Thread& thread) {
  run_of(thread).held = false;
  TextView::call_is_dropped(thread);
}

void FoldingTextView::call_is_unwound(Thread& thread, const Moment& moment) {
  reveal(run_of(thread));
  TextView::call_is_unwound(thread, moment);
}

void FoldingTextView::function_returns_again(Thread& thread, const Moment& moment, const trace::LibraryExit& exit,
                                             std::uint64_t value) {
  reveal(run_of(thread));
  TextView::function_returns_again(thread, moment, exit, value);
}

// ---------------------------------------------------------------------------------------------- other lines

void FoldingTextView::abi_changes(Thread& thread, const Moment& moment) {
  reveal(run_of(thread));
  TextView::abi_changes(thread, moment);
}

void FoldingTextView::signal(Thread& thread, const Moment& moment, const trace::SignalStop& stop,
                             std::span<const trace::StackFrame> stack) {
  reveal(run_of(thread));
  TextView::signal(thread, moment, stop, stack);
}

void FoldingTextView::probe(Thread& thread, const Moment& moment, const trace::ProbeHit& hit,
                            std::span<const trace::StackFrame> stack) {
  reveal(run_of(thread));
  TextView::probe(thread, moment, hit, stack);
}

void FoldingTextView::group_stop(Thread& thread, const Moment& moment, int signal,
                                 std::span<const trace::StackFrame> stack) {
  reveal(run_of(thread));
  TextView::group_stop(thread, moment, signal, stack);
}

void FoldingTextView::fork(Thread& thread, const Moment& moment, const trace::Fork& fork) {
  if (!fork.is_thread) {
    files_[fork.child] = files_[thread.tgid];
  }
  TextView::fork(thread, moment, fork);
}

void FoldingTextView::exec(Thread& thread, const Moment& moment) {
  files_.erase(thread.tgid);  // what the loader and libraries open is closed by execve
  TextView::exec(thread, moment);
}

void FoldingTextView::superseded(Thread& leader, Thread& former, const Moment& moment, bool quietly) {
  reveal(run_of(leader));
  reveal(run_of(former));
  TextView::superseded(leader, former, moment, quietly);
  run_of(leader).call = run_of(former).call;  // the execve goes on as the leader's
}

void FoldingTextView::exits(Thread& thread, const Moment& moment, int status) {
  reveal(run_of(thread));
  TextView::exits(thread, moment, status);
}

void FoldingTextView::detached(Thread& thread, const Moment& moment) {
  reveal(run_of(thread));
  TextView::detached(thread, moment);
}

void FoldingTextView::lost(std::uint64_t events) {
  reveal_all();
  TextView::lost(events);
}

void FoldingTextView::show_all() {
  reveal_all();
  TextView::show_all();
}

void FoldingTextView::finish() {
  reveal_all();
  TextView::finish();
}

void FoldingTextView::raw(std::string_view text) {
  reveal_all();
  TextView::raw(text);
}

}  // namespace tracer::pipeline::views
