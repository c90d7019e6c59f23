#include "explain/culprit.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/directory.h"
#include "explain/benign.h"
#include "explain/prober.h"
#include "explain/ranking.h"
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

constexpr std::size_t least_words = 8;  // a shorter line may be repeated by chance

/// True if the last line that `child` wrote where the user does not see it stands in `words`.
bool is_repeated_in(const Process& child, const std::string& words) {
  const std::string line = last_line(child.messages());
  return line.size() >= least_words && contains(words, line);
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
      bool wrote = std::any_of(entry->second.steps.begin(), entry->second.steps.end(),
                               [](const Step& step) { return step.kind == Step::Kind::message; });
      children_of(entry->second, [&](const Process& child) {
        last = later(last, last_words_in(child));
        wrote = wrote || wrote_messages(child);
      });
      if (wrote) {
        writers_.insert(entry->first);
      }
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

  /// True if `process` or one that descends from it wrote to standard error, seen by the user or not.
  [[nodiscard]] bool wrote_messages(const Process& process) const { return writers_.count(process.pid) != 0; }

 private:
  static const Step* later(const Step* one, const Step* other) {
    return one == nullptr || (other != nullptr && one->order < other->order) ? other : one;
  }

  std::multimap<pid_t, const Process*> children_;
  std::map<pid_t, const Step*> last_words_;
  std::set<pid_t> writers_;
};

/// True if `process` repeats the last line that `child`, or one that descends from it, wrote where the user does not
/// see it.
bool is_relayed(const Family& family, const Process& child, const Process& process) {
  constexpr std::size_t most_looked_at = 1000;  // a chain of processes may be long, and each link ask for those below
  const std::string words = process.messages() + '\n' + process.complaints();
  std::vector<const Process*> rest = {&child};
  for (std::size_t looked_at = 0; !rest.empty() && looked_at < most_looked_at; ++looked_at) {
    const Process& one = *rest.back();
    rest.pop_back();
    if (is_repeated_in(one, words)) {
      return true;
    }
    family.children_of(one, [&](const Process& other) { rest.push_back(&other); });
  }
  return false;
}

/// True if `process` names the file or command that `child` could not find or use: it failed before it ran a program,
/// and its parent speaks for it.
bool is_named_by(const Process& child, const Process& process) {
  const std::string words = process.messages() + process.last_output.text;
  return std::any_of(child.steps.begin(), child.steps.end(), [&](const Step& step) {
    return step.kind == Step::Kind::failure && is_named(base_name(step.path), words);
  });
}

/// True if `process` killed `child` itself.
bool was_ended_by(const Process& child, const Process& process) {
  return child.exit->by_signal && std::any_of(process.steps.begin(), process.steps.end(), [&](const Step& step) {
           return step.kind == Step::Kind::other && step.call.name == "kill" &&
                  step.call.argument("pid").value.number == child.pid;
         });
}

/// True if the end of a child explains that of `process` by its number: a shell passes it on.
bool has_same_status(const Process& process, const ExitInfo& child) {
  constexpr int shells_signal_offset = 128;
  const int expected = child.by_signal ? shells_signal_offset + child.status : child.status;
  return !process.exit || process.exit->by_signal ? process.exit && process.exit->signal == child.signal
                                                  : process.exit->status == expected;
}

/// Returns what the user saw of the words of `process` after a step of another process.
std::string words_from(const Process& process, std::uint64_t order) {
  std::string words;
  for (const Step& step : process.steps) {
    words += step.kind == Step::Kind::message && !step.is_hidden && step.order > order ? step.text : std::string();
  }
  return words;
}

/// True if the text only informs or warns.
bool is_remark(const std::string& text) {
  return without_remarks(text).find_first_not_of(" \r\n") == std::string::npos;
}

/// True if `process` names a file with which a call of its own failed, and the error.
bool reports_own_failure(const Process& process) {
  const std::string words = process.messages();
  return std::any_of(process.steps.begin(), process.steps.end(), [&](const Step& step) {
    return step.kind == Step::Kind::failure && step.order >= process.last_exec &&
           contains(words, base_name(step.path) + ": " + error_text_of(step.call.error));
  });
}

/// Returns what the user saw of the words of those that started `process`, and of theirs.
std::string words_of_ancestors(const Story& story, const Process& process) {
  constexpr std::size_t most = 100;
  std::string words;
  const Process* above = story.find(process.parent);
  for (std::size_t i = 0; i < most && above != nullptr && words.size() < 65536; ++i) {
    for (const Step& step : above->steps) {
      words += step.kind == Step::Kind::message && !step.is_hidden ? step.text : std::string();
    }
    above = above->parent < above->pid ? story.find(above->parent) : nullptr;
  }
  return words;
}

/// True if the words may be about the failure of a child: they name it, or speak of an error or a status.
bool speaks_of_failure(const std::string& words, const Process& child) {
  constexpr std::array<std::string_view, 12> parts = {"rror",   "ailed", "ailure", "exit",    "status", "code",
                                                      "topped", "ecipe", "bort",   "erminat", "eturn",  "nsuccess"};
  return reports_inability(words) || contains(words, child.name()) ||
         std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return contains(words, part); });
}

/// True if the process went on after the failure that `wait` reports: the user does not see what the child wrote, but
/// what the process wrote afterwards.
bool is_tolerated(const Story& story, const Family& family, const Process& process, const Step& wait) {
  const Process& child = *story.find(wait.child);
  const Step* own = last_words(process);
  const bool was_hidden = family.wrote_messages(child) && family.last_words_in(child) == nullptr;
  if (own != nullptr && was_ended_by(child, process)) {
    return true;
  }
  const bool spoke_before = own != nullptr && own->order < wait.order;
  const std::string shown = own == nullptr && was_hidden ? words_of_ancestors(story, process) : std::string();
  if (is_repeated_in(process, shown) && !is_relayed(family, child, process)) {
    return true;  // what the process wrote was shown by the one that read it, and the child's words were not
  }
  const Step* last = family.last_words_in(process);
  if (own == nullptr && was_hidden && last != nullptr && last->order > wait.order && !is_remark(last->text) &&
      !is_repeated_in(child, last->text)) {
    return true;  // another child, such as cat, said for the process what is wrong
  }
  if (own != nullptr && own->order > wait.order && !is_remark(own->text) && !has_same_status(process, *child.exit) &&
      !speaks_of_failure(words_from(process, wait.order), child)) {
    return true;
  }
  if (spoke_before && was_hidden && !has_same_status(process, *child.exit)) {
    return true;  // a last act, such as the trap of a shell
  }
  const Step* words = family.last_words_in(child);
  if (spoke_before && words != nullptr && (words->order < own->order || reports_own_failure(process)) &&
      is_remark(words->text)) {
    return true;  // the child only remarked something
  }
  const LastOutput& output = process.last_output;
  const bool reports_on_output = std::any_of(process.steps.begin(), process.steps.end(), [&](const Step& step) {
    return step.kind == Step::Kind::output && step.order > wait.order;
  });
  const bool is_silent = !family.wrote_messages(child) && reports_on_output;
  if (own == nullptr && (was_hidden || is_silent) && !output.text.empty() && output.order >= wait.order) {
    return !is_relayed(family, child, process) && !is_named_by(child, process);
  }
  if (own == nullptr || spoke_before || family.last_words_in(child) != nullptr) {
    return false;
  }
  if (family.wrote_messages(child)) {
    return !is_relayed(family, child, process);
  }
  // The child said nothing: what the process said then is about it, or not.
  constexpr std::uint64_t soon = 40;  // traced calls between the wait and words about it
  const bool is_about_it = is_named_by(child, process) || reports_inability(words_from(process, wait.order));
  const bool is_other = !has_same_status(process, *child.exit) && !is_about_it;
  return is_other || (own->number > wait.number + soon && !is_named_by(child, process));
}

/// Returns how often `process` wrote to the standard error that the user sees after a step of another process.
std::size_t words_after(const Process& process, std::uint64_t order) {
  return static_cast<std::size_t>(std::count_if(process.steps.begin(), process.steps.end(), [&](const Step& step) {
    return step.kind == Step::Kind::message && !step.is_hidden && step.order > order && step.text.size() > 1;
  }));
}

/// Returns the failed child that wrote the last words that the user sees, whether `process` waited for it or not;
/// nullptr if `process` wrote later itself, or no child did. Whoever does not wait for a child may add a sentence, as
/// git does after ssh.
const Process* child_with_last_words(const Family& family, const Process& process) {
  constexpr std::size_t max_added = 3;
  const Process* speaker = nullptr;
  std::uint64_t latest = 0;
  family.children_of(process, [&](const Process& child) {
    const Step* words = child.exit && !child.exit->good() ? family.last_words_in(child) : nullptr;
    const bool only_remarked = words != nullptr && is_remark(words->text);
    const std::size_t allowed = child.collected || only_remarked ? 0 : max_added;
    if (words != nullptr && words->order > latest && words_after(process, words->order) <= allowed) {
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
  const Step* same = nullptr;  // the last one that spoke and ended as the process did
  for (const Step& step : process.steps) {
    if (step.kind == Step::Kind::waited && step.order >= process.last_exec) {
      const Process* child = story.find(step.child);
      if (child != nullptr && child->exit && !child->exit->good()) {
        last = &step;
        same = has_same_status(process, *child->exit) && family.last_words_in(*child) != nullptr ? &step : same;
      }
    }
  }
  if (same != nullptr && !has_same_status(process, *story.find(last->child)->exit) &&
      family.last_words_in(*story.find(last->child)) == nullptr) {
    last = same;
  }
  if (last == nullptr || is_tolerated(story, family, process, *last)) {
    return nullptr;
  }
  const Process& child = *story.find(last->child);
  if (has_same_status(process, *child.exit) || is_relayed(family, child, process)) {
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
