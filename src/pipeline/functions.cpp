// Function calls. They contain other function calls and system calls.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "arch/passed_values.h"
#include "decode/function_values.h"
#include "pipeline/pipeline.h"

namespace tracer::pipeline {

void Pipeline::nest(Thread& thread) {
  if (records() && thread.call.shown) {
    view_.call_is_nested(thread);
  }
  if (thread.spare.empty()) {
    thread.spare.emplace_back(decoder_.make_state());
  }
  std::swap(static_cast<CallRecord&>(thread), thread.spare.back());
  if (trace::keep_innermost(thread.outer) && !std::exchange(depth_reported_, true)) {
    note_(fmt::format("Thread {} is in more than {} calls of functions: the ends of the outermost are not shown",
                      thread.tid, trace::most_open_calls));
  }
  thread.outer.push_back(std::move(thread.spare.back()));
  thread.spare.pop_back();
  thread.call = {};
  thread.entry_stack.clear();
  thread.line.clear();
  thread.handed_over = 0;
  thread.interrupted = false;
}

/// Called if an open call that is not the innermost one continues: a coroutine has been resumed.
void Pipeline::bring_inside(Thread& thread, std::size_t outer) {
  if (thread.call.open) {
    nest(thread);
  }
  const auto record = thread.outer.begin() + static_cast<std::ptrdiff_t>(outer);
  std::swap(static_cast<CallRecord&>(thread), *record);
  thread.spare.push_back(std::move(*record));
  thread.outer.erase(record);
}

void Pipeline::unnest(Thread& thread) {
  if (thread.outer.empty()) {
    return;
  }
  std::swap(static_cast<CallRecord&>(thread), thread.outer.back());
  thread.spare.push_back(std::move(thread.outer.back()));
  thread.outer.pop_back();
}

namespace {

constexpr std::array<std::string_view, 2> c_library = {"libc.so.6", "libm.so.6"};

/// Returns whether this is a C library with another name: musl, or a part of glibc before 2.34.
bool is_other_c_library(std::string_view library) {
  constexpr std::array<std::string_view, 4> parts = {"libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1"};
  return library == "libc.so" || library.starts_with("ld-musl-") || library.starts_with("libc.musl-") ||
         std::find(parts.begin(), parts.end(), library) != parts.end();
}

/// Returns the public name of an internal alias of the C library: `__strdup`, `__isoc99_vsscanf`.
std::string_view public_name(std::string_view function) {
  for (const std::string_view prefix : {"__isoc99_", "__libc_", "__"}) {
    if (function.starts_with(prefix)) {
      return function.substr(prefix.size());
    }
  }
  return {};
}

}  // namespace

/// Looks prototypes up by soname; `*`, which the user's prototypes have, matches any. A function of a statically linked
/// program is taken for that of the C library.
const spec::Call* Pipeline::prototype_of(const trace::LibraryFunction& function, pid_t tid) const {
  const spec::Call* found = tables_.find("*", function.name);
  if (found == nullptr) {
    found = tables_.find(function.library, function.name);
  }
  const bool is_other = is_other_c_library(function.library);
  if (found == nullptr && (is_other || function.library == c_library[0])) {
    found = tables_.find(c_library[0], public_name(function.name));
  }
  // This comes before the C library, as a program may have its own function of such a name.
  if (found == nullptr && options_.prototypes != nullptr && records()) {
    found = options_.prototypes->find(function, tid);
  }
  const bool maybe_c = function.library.empty() || function.in_program || is_other;
  for (std::size_t i = 0; found == nullptr && maybe_c && i < c_library.size(); ++i) {
    found = tables_.find(c_library[i], function.name);
  }
  return found;
}

void Pipeline::fetch_values(const spec::Call& function, const trace::LibraryEnter& enter, Abi abi,
                            const trace::Memory& memory) {
  arch::ArgumentReader reader(abi, enter, memory);
  reader.skip_hidden_pointer(decode::result_of(tables_, function, abi));
  for (const spec::PassedValue& value : decode::fixed_arguments(tables_, function, abi)) {
    reader.next(value, function_values_);
  }
  if (function.varargs != spec::Varargs::none) {
    for (const spec::ValueClass value : decode::variable_arguments(tables_, function, abi, function_values_, memory)) {
      reader.next({value}, function_values_);
    }
  }
}

decode::Outcome Pipeline::outcome_of(const OpenCall& call, const trace::LibraryExit& exit,
                                     const trace::Memory& memory) {
  decode::Outcome outcome;
  const spec::Call* function = call.entry.function;
  if (function == nullptr) {
    outcome.value = static_cast<std::int64_t>(exit.integers[0]);
    return outcome;
  }
  const Abi abi = call.entry.abi;
  const spec::PassedValue returned = decode::result_of(tables_, *function, abi);
  if (returned.value_class == spec::ValueClass::structure) {
    outcome.value = static_cast<std::int64_t>(exit.integers[0]);
    if (arch::result_structure(abi, returned, exit, call.result_address, memory, function_values_)) {
      outcome.words = function_values_;
    }
    return outcome;
  }
  const std::uint64_t bits = arch::result_value(abi, returned.value_class, exit);
  outcome.value = static_cast<std::int64_t>(bits);
  const spec::TypeId type = tables_.signatures[function->signature].result;
  if (!function->sets_errno || type == spec::none || exit.context == nullptr) {
    return outcome;
  }
  const spec::Type& result = tables_.types[type];
  const bool is_address = result.kind != spec::TypeKind::scalar || result.style == spec::Style::address;
  const bool is_wide = result.kind == spec::TypeKind::scalar && spec::bytes_of(result.width, abi) == 8;
  const bool failed = is_address ? bits == 0
                      : is_wide  ? bits == ~std::uint64_t{0}
                                 : static_cast<std::int32_t>(bits) == -1;
  if (const auto number = failed ? exit.context->error_number() : std::nullopt; number && *number > 0) {
    outcome.is_error = true;
    outcome.value = -std::int64_t{*number};
  }
  return outcome;
}

trace::Verdict Pipeline::on(const trace::LibraryEnter& enter, Thread& thread, const trace::Event& event,
                            const trace::Memory& memory) {
  if (thread.call.open) {
    nest(thread);
  }
  if (summary_ != nullptr) {
    summary_->count_function(event.abi, summary_name(*enter.function), 1);
  }
  OpenCall& call = thread.call;
  call.open = true;
  call.shown = true;
  call.entered = event.time;
  call.function = enter.function;
  call.function_call = enter.call;
  call.result_address = enter.result_address;
  call.instruction_pointer = enter.return_address;
  call.entry = {};
  call.entry.tid = event.tid;
  call.entry.abi = event.abi;
  call.entry.stack_pointer = enter.stack_pointer;
  std::copy_n(enter.integers.begin(), call.entry.args.size(), call.entry.args.begin());
  const spec::Call* described = prototype_of(*enter.function, event.tid);
  call.entry.function = described;
  call.entry.function_name = enter.function->label;
  function_values_.clear();
  if (described != nullptr && records()) {
    fetch_values(*described, enter, event.abi, memory);
    call.entry.values = function_values_;
  }
  thread.abi = event.abi;
  if (records()) {
    view_.call_begins(thread, memory);
    if (options_.stacks != nullptr) {
      thread.entry_stack.keep(options_.stacks->frames(event, memory));
    }
  }
  return trace::Verdict::go_on;
}

trace::Verdict Pipeline::on(const trace::LibraryExit& exit, Thread& thread, const trace::Event& event,
                            const trace::Memory& memory) {
  if (exit.how == trace::LibraryExit::How::again) {
    if (records()) {
      view_.function_returns_again(thread, {event.time, memory}, exit, exit.integers[0]);
    }
    return trace::Verdict::go_on;
  }
  if (!thread.call.open || thread.call.function_call != exit.call) {
    const auto around = std::find_if(thread.outer.begin(), thread.outer.end(),
                                     [&](const CallRecord& record) { return record.call.function_call == exit.call; });
    if (around == thread.outer.end()) {
      return trace::Verdict::go_on;
    }
    if (exit.how == trace::LibraryExit::How::lost) {
      thread.outer.erase(around);  // it contains an execve, which has ended all open calls
      return trace::Verdict::go_on;
    }
    bring_inside(thread, static_cast<std::size_t>(around - thread.outer.begin()));
  }
  switch (exit.how) {
    case trace::LibraryExit::How::lost:
      end_call(thread, {event.time, memory});
      return trace::Verdict::go_on;
    case trace::LibraryExit::How::unwound:
      if (records()) {
        view_.call_is_unwound(thread, {event.time, memory});
      }
      thread.call.open = false;
      unnest(thread);
      return trace::Verdict::go_on;
    default:
      break;
  }
  CallEnd end;
  end.time = event.time;
  end.outcome = outcome_of(thread.call, exit, memory);
  end.duration = event.time.monotonic - thread.call.entered.monotonic;
  if (summary_ != nullptr) {
    summary_->count_function_return(thread.call.entry.abi, summary_name(*exit.function), end.outcome.is_error,
                                    end.duration);
  }
  return finish(thread, end, &event, memory);
}

trace::Verdict Pipeline::on(const trace::LibraryCalls& calls, Thread&, const trace::Event& event,
                            const trace::Memory&) {
  if (summary_ != nullptr) {
    summary_->count_function(event.abi, summary_name(*calls.function), calls.count);
  }
  return trace::Verdict::go_on;
}

const std::string& Pipeline::summary_name(const trace::LibraryFunction& function) const {
  return options_.bare_function_names ? function.name : function.label;
}

trace::Verdict Pipeline::on(const trace::ProbeHit& hit, Thread& thread, const trace::Event& event,
                            const trace::Memory& memory) {
  thread.call.instruction_pointer = hit.instruction_pointer;
  thread.abi = event.abi;
  if (summary_ != nullptr) {
    const std::string name = "usdt:" + *hit.provider + ':' + *hit.name;
    summary_->count_function(event.abi, name, 1);
    summary_->count_function_return(event.abi, name, false, std::chrono::nanoseconds(0));
  }
  if (records()) {
    view_.probe(thread, {event.time, memory}, hit, stack_now(event, memory));
  }
  return trace::Verdict::go_on;
}

}  // namespace tracer::pipeline
