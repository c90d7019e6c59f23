#include "pipeline/views/folded.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/printable.h"

namespace tracer::pipeline::views {

namespace {

/// Returns whether the result of a call is the number of bytes that it transferred.
bool moves_bytes(std::string_view call) {
  constexpr std::array<std::string_view, 23> movers = {
      "read",    "pread64",  "readv",    "preadv",   "preadv2",    "write",     "pwrite64",       "writev",
      "pwritev", "pwritev2", "recv",     "recvfrom", "recvmsg",    "send",      "sendto",         "sendmsg",
      "splice",  "tee",      "vmsplice", "sendfile", "sendfile64", "getrandom", "copy_file_range"};
  return std::find(movers.begin(), movers.end(), call) != movers.end();
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// Appends the name of a frame.
void append_folded_frame(TextBuffer& text, const trace::StackFrame& frame) {
  switch (frame.kind) {
    case trace::StackFrame::Kind::code:
      if (frame.symbol.empty()) {
        text.append('[');
        append_printable(text, last_part(frame.file));
        text.append(']');
      } else {
        append_printable(text, frame.symbol);
      }
      break;
    case trace::StackFrame::Kind::unknown:
      text.append("[unknown]");
      break;
    case trace::StackFrame::Kind::limit:
      text.append("[more]");
      break;
    case trace::StackFrame::Kind::cycle:
      text.append("[cycle]");
      break;
  }
}

}  // namespace

FoldedView::FoldedView(const spec::Tables& tables, const decode::Decoder& decoder, names::ProcessNames& names,
                       Channels channels, render::FoldedWeight weight)
    : decoder_(decoder),
      names_(names),
      channels_(std::move(channels)),
      weight_(weight),
      emitter_(tables, scratch_, render::TextOptions{}) {}

void FoldedView::call_begins(Thread& thread, const trace::Memory& memory) {
  // This only resolves the name of the call.
  scratch_.clear();
  emitter_.reset();
  decoder_.enter(*thread.state, thread.call.entry, thread.call.depth, memory, emitter_);
}

std::uint64_t FoldedView::weight_of(const Thread& thread, const CallEnd& end) const {
  switch (weight_) {
    case render::FoldedWeight::calls:
      return 1;
    case render::FoldedWeight::time:
      return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(end.duration).count());
    case render::FoldedWeight::bytes: {
      const bool moved = end.outcome.known && !end.outcome.is_error && end.outcome.value > 0;
      return moved && moves_bytes(decoder_.name_of(*thread.state)) ? static_cast<std::uint64_t>(end.outcome.value) : 0;
    }
  }
  return 0;
}

void FoldedView::call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) {
  const std::uint64_t weight = weight_of(thread, end);
  if (weight != 0) {
    if (thread.command.empty()) {
      thread.command = names_.command({thread.tid, memory.snapshot()});
    }
    // Semicolons separate the frames, so those in names are replaced; each name goes through the buffer alone.
    line_.clear();
    const auto take = [this] {
      for (const char c : scratch_.view()) {
        line_.push_back(c == ';' ? ':' : c);
      }
      scratch_.clear();
    };
    scratch_.clear();
    append_printable(scratch_, thread.command);
    take();
    for (std::size_t i = end.stack.size(); i-- > 0;) {
      append_folded_frame(scratch_, end.stack[i]);
      line_.push_back(';');
      take();
    }
    line_.push_back(';');
    line_.append(decoder_.name_of(*thread.state));
    if (weights_.size() < most_stacks || weights_.count(line_) != 0) {
      weights_[line_] += weight;
    } else {
      weights_["[other stacks]"] += weight;
    }
  }
  thread.entry_stack.clear();
}

void FoldedView::flush() {
  channels_.flush([](Thread&) {});
}

void FoldedView::finish() {
  std::vector<const std::pair<const std::string, std::uint64_t>*> sorted;
  sorted.reserve(weights_.size());
  for (const auto& each : weights_) {
    sorted.push_back(&each);
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
  for (const auto* each : sorted) {
    scratch_.clear();
    scratch_.append(each->first);
    scratch_.append(' ');
    scratch_.decimal(each->second);
    scratch_.append('\n');
    channels_.write_common(scratch_.view());
  }
  weights_.clear();
}

}  // namespace tracer::pipeline::views
