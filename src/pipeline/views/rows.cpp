#include "pipeline/views/rows.h"

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "pipeline/named_arguments.h"
#include "trace/task_snapshot.h"

namespace tracer::pipeline::views {

namespace {

/// Gives each argument, and the result, a line of its own.
class DetailEmitter final : public render::TextEmitter {
 public:
  using render::TextEmitter::TextEmitter;

  [[nodiscard]] render::Names names() const override { return render::Names::described; }
  void begin_argument(std::string_view name, std::string_view type, std::uint64_t raw) override {
    const bool first = first_argument();
    render::TextEmitter::begin_argument({}, type, raw);
    if (!first) {
      text().truncate(text().size() - 1);  // the blank after the comma
    }
    text().append("\n    ");
    if (!name.empty()) {
      text().append(name);
      text().append(" = ");
    }
  }
  void show_argument_name(std::string_view /*name*/) override {}  // it is there
  void end_arguments() override {
    text().append('\n');
    render::TextEmitter::end_arguments();
  }
};

/// Takes the next line.
std::string take_line(std::string& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string line = text.substr(0, end);
  text.erase(0, end + 1);
  return line;
}

}  // namespace

class RowsView::Collected final : public sink::Sink {
 public:
  void write(std::string_view bytes) override { text_ += bytes; }
  void flush() override {}
  std::string take() { return std::exchange(text_, {}); }

 private:
  std::string text_;
};

RowsView::RowsView(TextViewOptions options, RowOptions wanted, const spec::Tables& tables,
                   const decode::Decoder& decoder, const names::Names& names)
    : RowsView(new Collected, std::move(options), wanted, tables, decoder, names) {}

RowsView::RowsView(Collected* sink, TextViewOptions options, RowOptions wanted, const spec::Tables& tables,
                   const decode::Decoder& decoder, const names::Names& names)
    : TextView(std::move(options), tables, decoder, names, Channels(std::unique_ptr<sink::Sink>(sink))),
      sink_(*sink),
      wanted_(wanted),
      noise_(tables, decoder) {
  if (wanted_.details) {
    use_emitter(std::make_unique<DetailEmitter>(tables, scratch(), this->options().calls));
  }
}

RowsView::~RowsView() = default;

bool RowsView::is_open(pid_t tid) const {
  const auto thread = threads_.find(tid);
  return thread != threads_.end() && thread->second->call.open && thread->second->call.function == nullptr &&
         open_.contains(place_of(*thread->second));
}

std::vector<Row> RowsView::take() {
  collect_notes();
  for (const auto& [place, index] : open_) {
    const Thread& thread = *threads_.find(place.first)->second;
    const CallRecord& call = place.second < thread.outer.size() ? thread.outer[place.second] : thread;
    rows_[index].text = std::string(call.line.view()) + " <unfinished ...>";
  }
  open_.clear();
  std::vector<Row> rows;
  rows.reserve(rows_.size() - dropped_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!dropped_.contains(i)) {
      rows.push_back(std::move(rows_[i]));
    }
  }
  return rows;
}

// ---------------------------------------------------------------------------------------------- lines

/// The columns of the time and of the thread are not part of a row's text.
void RowsView::write_prefix(Thread& thread, const Moment& moment) {
  collect_notes();
  line_.tid = thread.tid;
  line_.tgid = thread.tgid;
  line_.time = moment.time;
  if (wanted_.details && moment.memory.snapshot() != nullptr) {
    line_.command = printable(moment.memory.snapshot()->command(thread.tid).value_or(""));
  }
}

void RowsView::event_done() {
  collect_notes();
}

void RowsView::collect_notes() {
  flush();
  std::string text = sink_.take();
  if (text.empty() || only_ends_) {
    return;
  }
  Row row = line_;
  row.text = take_line(text);
  if (wanted_.details) {
    row.below = std::move(text);
  }
  rows_.push_back(std::move(row));
}

Row* RowsView::end_row(const Thread& thread) {
  flush();
  std::string text = sink_.take();
  const auto open = open_.find(place_of(thread));
  if (open == open_.end()) {
    return nullptr;
  }
  Row& row = rows_[open->second];
  open_.erase(open);
  open_functions_.erase(thread.call.function_call);
  row.ended = true;
  if (!wanted_.details) {
    row.text = take_line(text);
    return &row;
  }
  // Each argument takes a line; what was written below the call starts behind the one with its result.
  const std::size_t result = text.find("\n)");
  const std::size_t size =
      std::min(text.find('\n', result == std::string::npos ? text.size() : result + 1), text.size());
  row.text = text.substr(0, size);
  row.text.erase(row.text.find_last_not_of('\n') + 1);
  row.below = size + 1 < text.size() ? text.substr(size + 1) : std::string();
  return &row;
}

// ---------------------------------------------------------------------------------------------- calls

void RowsView::thread_appears(Thread& thread, const Moment& moment) {
  TextView::thread_appears(thread, moment);
  threads_[thread.tid] = &thread;
}

void RowsView::thread_goes(Thread& thread) {
  noise_.thread_goes(thread);
  TextView::thread_goes(thread);
  collect_notes();
  threads_.erase(thread.tid);
  folding_.erase(thread.tid);
  for (auto open = open_.lower_bound({thread.tid, 0}); open != open_.end() && open->first.first == thread.tid;) {
    open = open_.erase(open);
  }
}

void RowsView::call_begins(Thread& thread, const trace::Memory& memory) {
  begin_held_line(thread, memory);
  Row row = line_;
  row.kind = Row::Kind::call;
  row.ended = false;
  row.is_function = thread.call.function != nullptr;
  row.name = decoder().name_of(*thread.state);
  if (thread.call.function == nullptr) {
    noise_.call_begins(thread, memory);
    add_fds(row, thread);
  } else {
    open_functions_.insert(thread.call.function_call);
  }
  row.text = thread.line.view();
  open_[place_of(thread)] = rows_.size();
  rows_.push_back(std::move(row));
}

void RowsView::call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) {
  TextView::call_ends(thread, end, memory);
  Row* row = end_row(thread);
  if (row == nullptr) {
    return;
  }
  row->failed = end.outcome.known && end.outcome.is_error;
  if (end.outcome.known) {
    row->duration = end.duration;
  }
  if (thread.call.function == nullptr && end.outcome.known) {
    add_result(*row, thread, end);
    find_noise(*row, thread, end);
  }
}

void RowsView::add_fds(Row& row, const Thread& thread) const {
  const spec::Signature* signature = decode::Decoder::signature_of(*thread.state);
  if (signature == nullptr) {
    return;
  }
  visit_named_arguments(
      tables(), *signature, thread.call.entry.abi, decode::Decoder::arguments_of(*thread.state),
      [&row](std::int32_t fd, spec::Style) {
        if (fd >= 0) {
          row.fds.push_back(fd);
        }
      },
      [](RemoteAddr) {});
}

void RowsView::add_result(Row& row, const Thread& thread, const CallEnd& end) const {
  const spec::Signature* signature = decode::Decoder::signature_of(*thread.state);
  const bool is_fd = signature != nullptr && signature->result != spec::none &&
                     tables().types[signature->result].style == spec::Style::fd;
  if (is_fd && !end.outcome.is_error) {
    row.fds.push_back(static_cast<std::int32_t>(end.outcome.value));
  }
}

void RowsView::find_noise(Row& row, const Thread& thread, const CallEnd& end) {
  bool& folding = folding_[thread.tid];
  row.result = noisy_result(end.outcome);
  const FoldRule* rule = noise_.find(thread, row.result, folding);
  folding = rule != nullptr && is_plain(end);
  if (folding) {
    row.rule = rule;
    row.noisy = noise_.call_of(thread);
  }
  noise_.call_ends(thread, row.result, rule, folding);
}

void RowsView::call_is_lost(Thread& thread, const Moment& moment) {
  if (thread.call.function != nullptr) {
    thread.interrupted = false;
  }
  TextView::call_is_lost(thread, moment);
  end_row(thread);
}

void RowsView::call_is_dropped(Thread& thread) {
  if (const auto open = open_.find(place_of(thread)); open != open_.end()) {
    dropped_.insert(open->second);
    open_.erase(open);
  }
  open_functions_.erase(thread.call.function_call);
  TextView::call_is_dropped(thread);
}

void RowsView::call_is_unwound(Thread& thread, const Moment& moment) {
  TextView::call_is_unwound(thread, moment);
  end_row(thread);
}

// ---------------------------------------------------------------------------------------------- other events

void RowsView::fork(Thread& thread, const Moment& moment, const trace::Fork& fork) {
  noise_.fork(thread, fork);
  TextView::fork(thread, moment, fork);
}

void RowsView::exec(Thread& thread, const Moment& moment) {
  noise_.exec(thread);
  TextView::exec(thread, moment);
}

void RowsView::superseded(Thread& leader, Thread& former, const Moment& moment, bool quietly) {
  noise_.superseded(leader, former);
  TextView::superseded(leader, former, moment, quietly);
  former.interrupted = false;
  if (const auto open = open_.find(place_of(former)); open != open_.end()) {
    open_[{leader.tid, former.outer.size()}] = open->second;
    open_.erase(place_of(former));
  }
}

void RowsView::exits(Thread& thread, const Moment& moment, int status) {
  TextView::exits(thread, moment, status);
  const std::size_t before = rows_.size();
  collect_notes();
  if (rows_.size() > before) {
    rows_.back().failed = status != 0;
  }
}

void RowsView::detached(Thread& thread, const Moment& moment) {
  const bool begun = open_.contains(place_of(thread));
  TextView::detached(thread, moment);
  if (begun) {
    end_row(thread);
  }
}

}  // namespace tracer::pipeline::views
