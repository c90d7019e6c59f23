#include "explain/culprit.h"

#include <algorithm>
#include <set>

#include "explain/benign.h"
#include "explain/text_search.h"

namespace tracer::explain {

namespace {

/// Returns the step in which `process` waited for its last failed child; nullptr if the child's failure does not
/// explain the exit status of `process`.
const Step* failed_child(const Story& story, const Process& process) {
  const Step* last = nullptr;
  for (const Step& step : process.steps) {
    if (step.kind == Step::Kind::waited && step.order >= process.last_exec) {
      const Process* child = story.find(step.child);
      if (child != nullptr && child->exit && !child->exit->good()) {
        last = &step;
      }
    }
  }
  if (last == nullptr) {
    return nullptr;
  }
  const ExitInfo& child = *story.find(last->child)->exit;
  constexpr int shells_signal_offset = 128;
  const int expected = child.by_signal ? shells_signal_offset + child.status : child.status;
  if (!process.exit || process.exit->by_signal ? process.exit && process.exit->signal == child.signal
                                               : process.exit->status == expected) {
    return last;
  }
  // With another status, a failure of its own after the wait explains it.
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
    if (pid != first.pid && process.exit && !process.exit->good() && !process.collected) {
      const Process* parent = story.find(process.parent);
      if (parent != nullptr && parent->exit && parent->exit->time < process.exit->time) {
        return &process;
      }
    }
  }
  return nullptr;
}

}  // namespace tracer::explain
