#include "pipeline/thread.h"

#include <utility>

namespace tracer::pipeline {

bool Thread::push_call(const decode::Decoder& decoder) {
  if (spare.empty()) {
    spare.emplace_back(decoder.make_state());
  }
  std::swap(static_cast<CallRecord&>(*this), spare.back());
  const bool dropped = trace::keep_innermost(outer);
  outer.push_back(std::move(spare.back()));
  spare.pop_back();
  call = {};
  entry_stack.clear();
  line.clear();
  handed_over = 0;
  interrupted = false;
  return dropped;
}

void Thread::pop_call() {
  if (outer.empty()) {
    return;
  }
  std::swap(static_cast<CallRecord&>(*this), outer.back());
  spare.push_back(std::move(outer.back()));
  outer.pop_back();
}

void Thread::resume_call(std::size_t index) {
  const auto record = outer.begin() + static_cast<std::ptrdiff_t>(index);
  std::swap(static_cast<CallRecord&>(*this), *record);
  spare.push_back(std::move(*record));
  outer.erase(record);
}

}  // namespace tracer::pipeline
