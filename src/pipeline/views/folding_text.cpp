#include "pipeline/views/folding_text.h"

#include <utility>

namespace tracer::pipeline::views {

namespace {

/// A run that lasts as long is closed, so that a person sees that something happens.
constexpr std::chrono::seconds longest_run(1);

}  // namespace

FoldingTextView::FoldingTextView(TextViewOptions options, bool utf8, const spec::Tables& tables,
                                 const decode::Decoder& decoder, const names::Names& names, Channels channels)
    : TextView(std::move(options), tables, decoder, names, std::move(channels)), utf8_(utf8), noise_(tables, decoder) {}

void FoldingTextView::thread_appears(Thread& thread, const Moment& moment) {
  TextView::thread_appears(thread, moment);
  runs_[thread.tid].thread = &thread;
}

void FoldingTextView::thread_goes(Thread& thread) {
  reveal(run_of(thread));
  runs_.erase(thread.tid);
  noise_.thread_goes(thread);
  TextView::thread_goes(thread);
}

// ---------------------------------------------------------------------------------------------- calls

void FoldingTextView::call_begins(Thread& thread, const trace::Memory& memory) {
  reveal_waiting(thread.call.entered.monotonic);
  Run& run = run_of(thread);
  run.held = false;
  run.prefix_of_call = begin_held_line(thread, memory);
  if (thread.call.function == nullptr) {
    noise_.call_begins(thread, memory);
    if (noise_.find(thread, std::nullopt, run.tally.calls() != 0) != nullptr) {
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
  const NoisyResult result = noisy_result(end.outcome);
  const FoldRule* rule = held ? noise_.find(thread, result, run.tally.calls() != 0) : nullptr;
  const bool folds = rule != nullptr && is_plain(end);
  if (folds) {
    fold(run, end, result, *rule, memory);
  } else {
    close(run);
    if (held && !options().hold_calls) {
      show_held_line(thread);
    }
    TextView::call_ends(thread, end, memory);
  }
  noise_.call_ends(thread, result, rule, folds);
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
  run.tally.add(rule, noise_.call_of(thread), result, end.duration);
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
  if (now - looked_ < longest_noise) {
    return;
  }
  looked_ = now;
  for (auto& [tid, run] : runs_) {
    if (run.held && now - run.thread->call.entered.monotonic >= longest_noise) {
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
  noise_.fork(thread, fork);
  TextView::fork(thread, moment, fork);
}

void FoldingTextView::exec(Thread& thread, const Moment& moment) {
  noise_.exec(thread);
  TextView::exec(thread, moment);
}

void FoldingTextView::superseded(Thread& leader, Thread& former, const Moment& moment, bool quietly) {
  reveal(run_of(leader));
  reveal(run_of(former));
  TextView::superseded(leader, former, moment, quietly);
  noise_.superseded(leader, former);
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
