#include "explain/culprit.h"

#include <algorithm>
#include <set>

#include "explain/benign.h"
#include "explain/text_search.h"

namespace tracer::explain {

namespace {

/// Returns the last message of `process`, or of its children if `with_children`, that the user sees; nullptr if there
/// is none.
const Step* last_words(const Story& story, const Process& process, bool with_children) {
  const Step* last = nullptr;
  for (const Step& step : process.steps) {
    if (step.kind == Step::Kind::message && !step.is_hidden && step.text.size() > 1) {
      last = &step;
    }
  }
  if (with_children) {
    for (const auto& [pid, child] : story.processes()) {
      // A process ID is greater than that of its parent, or the kernel has begun anew; the latter ends the search.
      const Step* words = child.parent == process.pid && pid > process.pid ? last_words(story, child, true) : nullptr;
      last = words != nullptr && (last == nullptr || last->order < words->order) ? words : last;
    }
  }
  return last;
}

bool wrote_messages(const Process& process) {
  return std::any_of(process.steps.begin(), process.steps.end(),
                     [](const Step& step) { return step.kind == Step::Kind::message; });
}

/// True if the process went on after the failure that `wait` reports: the user does not see what the child wrote, but
/// what the process wrote afterwards.
bool is_tolerated(const Story& story, const Process& process, const Step& wait) {
  const Process& child = *story.find(wait.child);
  const Step* own = last_words(story, process, false);
  return wrote_messages(child) && last_words(story, child, true) == nullptr && own != nullptr &&
         own->order > wait.order;
}

/// Returns the failed child that wrote the last words that the user sees, whether `process` waited for it or not;
/// nullptr if `process` wrote later itself, or no child did.
const Process* child_with_last_words(const Story& story, const Process& process) {
  const Step* own = last_words(story, process, false);
  const Process* speaker = nullptr;
  std::uint64_t latest = own != nullptr ? own->order : 0;
  for (const auto& [pid, child] : story.processes()) {
    const bool is_failed_child = child.parent == process.pid && pid > process.pid && child.exit && !child.exit->good();
    const Step* words = is_failed_child ? last_words(story, child, true) : nullptr;
    if (words != nullptr && words->order > latest) {
      latest = words->order;
      speaker = &child;
    }
  }
  return speaker;
}

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
  if (last == nullptr || is_tolerated(story, process, *last)) {
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
    process = wait != nullptr ? story.find(wait->child) : child_with_last_words(story, *process);
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
