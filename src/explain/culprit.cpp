#include "explain/culprit.h"

#include <algorithm>
#include <set>

#include "explain/benign.h"
#include "explain/words.h"

namespace tracer::explain {

namespace {

/// The last failed child that `process` waited for, nullptr if none is to blame for its end.
const Step* failed_child(const Story& story, const Process& process) {
  const Step* last = nullptr;
  for (const Step& step : process.steps) {
    if (step.kind == Step::Kind::waited && step.order >= process.image_begins) {
      const Process* child = story.find(step.child);
      if (child != nullptr && child->end && !child->end->good()) {
        last = &step;
      }
    }
  }
  if (last == nullptr) {
    return nullptr;
  }
  const End& child = *story.find(last->child)->end;
  constexpr int shells_signal_offset = 128;
  const int expected = child.by_signal ? shells_signal_offset + child.status : child.status;
  if (!process.end || process.end->by_signal ? process.end && process.end->signal == child.signal
                                             : process.end->status == expected) {
    return last;
  }
  // Another status: its own if something of its own failed after the wait.
  const bool own = std::any_of(process.steps.begin(), process.steps.end(), [&](const Step& step) {
    return step.order > last->order && step.kind == Step::Kind::failure && benign_reason(process, step).empty() &&
           !is_listed(step.call.name, "stat newfstatat lstat statx access unlink unlinkat wait4");
  });
  return own ? nullptr : last;
}

}  // namespace

const Process* culprit(const Story& story, const Process& first, std::vector<const Process*>& chain) {
  const Process* process = &first;
  std::set<pid_t> seen;
  while (process != nullptr && seen.insert(process->pid).second) {
    chain.push_back(process);
    const Step* wait = failed_child(story, *process);
    if (wait == nullptr) {
      break;
    }
    process = story.find(wait->child);
  }
  return chain.back();
}

const Process* abandoned_failure(const Story& story, const Process& first) {
  for (const auto& [pid, process] : story.processes()) {
    if (pid != first.pid && process.end && !process.end->good() && !process.collected) {
      const Process* parent = story.find(process.parent);
      if (parent != nullptr && parent->end && parent->end->time < process.end->time) {
        return &process;
      }
    }
  }
  return nullptr;
}

}  // namespace tracer::explain
