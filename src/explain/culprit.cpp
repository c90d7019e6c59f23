#include "explain/culprit.h"

#include <algorithm>
#include <map>
#include <set>

#include "explain/benign.h"
#include "explain/text_search.h"

namespace tracer::explain {

namespace {

/// Returns the last message of `process` that the user sees; nullptr if there is none.
const Step* last_words(const Process& process) {
  const Step* last = nullptr;
  for (const Step& step : process.steps) {
    if (step.kind == Step::Kind::message && !step.is_hidden && step.text.size() > 1) {
      last = &step;
    }
  }
  return last;
}

/// The processes of a story by their parents. A process ID is greater than that of its parent, or the kernel has begun
/// anew; those children are left out, so that every search ends.
class Family {
 public:
  explicit Family(const Story& story) {
    for (const auto& [pid, process] : story.processes()) {
      if (pid > process.parent) {
        children_.emplace(process.parent, &process);
      }
    }
    // Descendants come first.
    auto entry = story.processes().rbegin();
    while (entry != story.processes().rend()) {
      const Step* last = last_words(entry->second);
      children_of(entry->second, [&](const Process& child) { last = later(last, last_words_in(child)); });
      if (last != nullptr) {
        last_words_.emplace(entry->first, last);
      }
      ++entry;
    }
  }

  template <typename Visit>
  void children_of(const Process& parent, Visit visit) const {
    for (auto [child, end] = children_.equal_range(parent.pid); child != end; ++child) {
      visit(*child->second);
    }
  }

  /// Returns the last message of `process` and all that descend from it.
  [[nodiscard]] const Step* last_words_in(const Process& process) const {
    const auto found = last_words_.find(process.pid);
    return found == last_words_.end() ? nullptr : found->second;
  }

 private:
  static const Step* later(const Step* one, const Step* other) {
    return one == nullptr || (other != nullptr && one->order < other->order) ? other : one;
  }

  std::multimap<pid_t, const Process*> children_;
  std::map<pid_t, const Step*> last_words_;
};

bool wrote_messages(const Process& process) {
  return std::any_of(process.steps.begin(), process.steps.end(),
                     [](const Step& step) { return step.kind == Step::Kind::message; });
}

/// True if the process went on after the failure that `wait` reports: the user does not see what the child wrote, but
/// what the process wrote afterwards.
bool is_tolerated(const Story& story, const Family& family, const Process& process, const Step& wait) {
  const Process& child = *story.find(wait.child);
  const Step* own = last_words(process);
  return wrote_messages(child) && family.last_words_in(child) == nullptr && own != nullptr && own->order > wait.order;
}

/// Returns the failed child that wrote the last words that the user sees, whether `process` waited for it or not;
/// nullptr if `process` wrote later itself, or no child did.
const Process* child_with_last_words(const Family& family, const Process& process) {
  const Step* own = last_words(process);
  const Process* speaker = nullptr;
  std::uint64_t latest = own != nullptr ? own->order : 0;
  family.children_of(process, [&](const Process& child) {
    const Step* words = child.exit && !child.exit->good() ? family.last_words_in(child) : nullptr;
    if (words != nullptr && words->order > latest) {
      latest = words->order;
      speaker = &child;
    }
  });
  return speaker;
}

/// Returns the step in which `process` waited for its last failed child; nullptr if the child's failure does not
/// explain the exit status of `process`.
const Step* failed_child(const Story& story, const Family& family, const Process& process) {
  const Step* last = nullptr;
  for (const Step& step : process.steps) {
    if (step.kind == Step::Kind::waited && step.order >= process.last_exec) {
      const Process* child = story.find(step.child);
      if (child != nullptr && child->exit && !child->exit->good()) {
        last = &step;
      }
    }
  }
  if (last == nullptr || is_tolerated(story, family, process, *last)) {
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
  const Family family(story);
  const Process* process = &first;
  std::set<pid_t> seen;
  while (process != nullptr && seen.insert(process->pid).second) {
    chain.push_back(process);
    const Step* wait = failed_child(story, family, *process);
    process = wait != nullptr ? story.find(wait->child) : child_with_last_words(family, *process);
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
