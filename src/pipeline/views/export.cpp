#include "pipeline/views/export.h"

#include <utility>

#include "base/printable.h"
#include "decode/call_state.h"
#include "format/error_names.h"
#include "spec/signal_names.h"

namespace tracer::pipeline::views {

namespace {

/// Takes what an execve had from its arguments.
std::vector<std::string> strings_of(const json_t* argument, bool& cut) {
  std::vector<std::string> result;
  const json_t* list = exports::bare(json_object_get(argument, "value"));
  for (std::size_t i = 0; json_is_array(list) && i < json_array_size(list); ++i) {
    const json_t* each = json_array_get(list, i);
    const bool more = i + 1 == json_array_size(list) && exports::text_of(each) == "...";
    cut = cut || more;
    if (!more) {
      result.push_back(exports::bytes_of(each, cut));
    }
  }
  return result;
}

}  // namespace

ExportView::ExportView(const spec::Tables& tables, const decode::Decoder& decoder, names::ProcessNames& names,
                       Channels channels, const Make& make, Abi native)
    : decoder_(decoder),
      names_(names),
      channels_(std::move(channels)),
      exporter_(make([this](std::string_view text) { channels_.write_common(text); })),
      processes_(*exporter_),
      emitter_(tables, record_),
      native_(native) {}

void ExportView::see(const Thread& thread, trace::EventTime time) {
  processes_.of(thread.tid).last = time.monotonic;
}

void ExportView::thread_appears(Thread& thread, const Moment& moment) {
  channels_.assign(thread);
  if (!std::exchange(begun_, true)) {
    exporter_->begins(moment.time);
  }
  processes_.appears(thread.tid, thread.tgid, names_.command(moment.task(thread)), moment.time.monotonic);
}

void ExportView::thread_goes(Thread& thread) {
  channels_.release(thread);
  executing_.erase(thread.tid);
  processes_.goes(thread.tid);
}

// ---------------------------------------------------------------------------------------------- calls

void ExportView::call_begins(Thread& thread, const trace::Memory& memory) {
  see(thread, thread.call.entered);
  if (thread.call.function != nullptr) {
    thread.call.entry.function_name = thread.call.function->name;
  }
  thread.line.clear();
  thread.line.append('{');
  emitter_.set_buffer(thread.line);
  emitter_.resume({});
  decoder_.enter(*thread.state, thread.call.entry, thread.call.depth, memory, emitter_);
  thread.json_progress = emitter_.progress();
}

void ExportView::call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) {
  see(thread, end.time);
  emitter_.set_buffer(thread.line);
  emitter_.resume(thread.json_progress);
  decoder_.exit(*thread.state, end.outcome, memory, emitter_);
  const render::CallResult& result = emitter_.result();
  exports::Call call;
  call.end = end.outcome.known ? exports::Call::End::returned : exports::Call::End::exit;
  call.duration = end.outcome.known ? end.duration : end.time.monotonic - thread.call.entered.monotonic;
  call.failed = result.kind == render::CallResult::Kind::error;
  call.result = call.failed ? -1 : result.value;
  std::string number;
  if (call.failed) {
    call.error = format::error_name(result.error);
    if (call.error.empty()) {
      call.error = number = std::to_string(result.error);
    }
  }
  call.result_is_descriptor = !call.failed && call.result >= 0 && emitter_.result_is_descriptor();
  call.stack = end.stack;
  write_call(thread, call);
  thread.entry_stack.clear();
}

void ExportView::write_call(Thread& thread, exports::Call call) {
  thread.line.append('}');
  const exports::Json record = exports::read_json(thread.line.view());
  thread.line.clear();
  const auto executing = executing_.find(thread.tid);
  const bool by_former = executing != executing_.end() && executing->second.former != nullptr;
  call.thread = by_former ? executing->second.former.get() : &processes_.of(thread.tid);
  call.name = exports::text_of(json_object_get(record.get(), "name"));
  call.is_function = thread.call.function != nullptr;
  call.module = call.is_function ? thread.call.function->library : std::string_view();
  call.depth = thread.outer.size();
  call.start = thread.call.entered.monotonic;
  call.record = record.get();
  exporter_->call(call);
  end_exec(thread, call.arguments());
}

void ExportView::close_unfinished(Thread& thread, exports::Call::End end, trace::EventTime time) {
  see(thread, time);
  emitter_.set_buffer(thread.line);
  emitter_.resume(thread.json_progress);
  if (thread.state->argument_open) {
    emitter_.end_argument();
  }
  emitter_.end_arguments();
  emitter_.begin_result({render::CallResult::Kind::unknown, 0, 0});
  emitter_.end_result();
  exports::Call call;
  call.end = end;
  call.duration = time.monotonic - thread.call.entered.monotonic;
  write_call(thread, call);
}

void ExportView::call_is_lost(Thread& thread, const Moment& moment) {
  close_unfinished(thread, exports::Call::End::exit, moment.time);
}

void ExportView::call_is_unwound(Thread& thread, const Moment& moment) {
  close_unfinished(thread, exports::Call::End::unwound, moment.time);
}

void ExportView::call_is_dropped(Thread& thread) {
  thread.line.clear();
  end_exec(thread, nullptr);
}

// ---------------------------------------------------------------------------------------------- what else happens

void ExportView::superseded(Thread&, Thread& former, const Moment& moment, bool) {
  see(former, moment.time);
  executing_[former.tgid].former = processes_.supersede(former.tid);
}

void ExportView::exec(Thread& thread, const Moment& moment) {
  see(thread, moment.time);
  Executing& executing = executing_[thread.tid];
  executing.command = names_.command(moment.task(thread));
  executing.exec.emplace().time = moment.time.monotonic;
  if (!thread.call.open || !thread.call.shown) {
    end_exec(thread, nullptr);
  }
}

void ExportView::end_exec(const Thread& thread, const json_t* arguments) {
  auto node = executing_.extract(thread.tid);
  if (node.empty() || !node.mapped().exec) {
    return;
  }
  exports::Exec& exec = *node.mapped().exec;
  exec.path = exports::bytes_of(json_object_get(exports::argument(arguments, "pathname"), "value"), exec.cut);
  exec.arguments = strings_of(exports::argument(arguments, "argv"), exec.cut);
  bool environment_cut = false;
  auto environment = strings_of(exports::argument(arguments, "envp"), environment_cut);
  processes_.executes(thread.tid, node.mapped().command, std::move(exec), std::move(environment));
  processes_.retire(std::move(node.mapped().former));
}

void ExportView::signal(Thread& thread, const Moment& moment, const trace::SignalStop& stop,
                        std::span<const trace::StackFrame>) {
  see(thread, moment.time);
  exports::Json information;
  if (!stop.siginfo.empty()) {
    record_.clear();
    emitter_.set_buffer(record_);
    emitter_.reset();
    decoder_.siginfo(stop.siginfo, native_, thread.tid, moment.memory, emitter_);
    information = exports::read_json(record_.view());
  }
  exporter_->signal({&processes_.of(thread.tid), moment.time.monotonic,
                     spec::signal_name(static_cast<std::uint64_t>(stop.signal)), false, information.get()});
}

void ExportView::group_stop(Thread& thread, const Moment& moment, int signal, std::span<const trace::StackFrame>) {
  see(thread, moment.time);
  exporter_->signal({&processes_.of(thread.tid), moment.time.monotonic,
                     spec::signal_name(static_cast<std::uint64_t>(signal)), true, nullptr});
}

void ExportView::fork(Thread& thread, const Moment& moment, const trace::Fork& fork) {
  see(thread, moment.time);
  processes_.forks(thread.tid, fork.child, fork.is_thread, moment.time.monotonic);
}

void ExportView::exits(Thread& thread, const Moment& moment, int status) {
  see(thread, moment.time);
  processes_.of(thread.tid).process->status = status;
}

void ExportView::detached(Thread& thread, const Moment& moment) {
  if (thread.call.open && thread.call.shown) {
    close_unfinished(thread, exports::Call::End::detach, moment.time);
  }
  see(thread, moment.time);
  processes_.of(thread.tid).process->detached = true;
}

void ExportView::flush() {
  channels_.flush([](Thread&) {});
}

}  // namespace tracer::pipeline::views
