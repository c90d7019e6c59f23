#include "explain/explanation.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "explain/benign.h"
#include "explain/blocked_threads.h"
#include "explain/cause_search.h"
#include "explain/configuration_text.h"
#include "explain/culprit.h"
#include "explain/exit_meanings.h"
#include "explain/owners.h"
#include "explain/prober.h"
#include "explain/text_search.h"
#include "explain/uncaught_error.h"
#include "explain/verdict.h"

namespace tracer::explain {

namespace {

std::string about_seconds(Time time) {
  return fmt::format("{:.2f}", static_cast<double>(time.count()) / 1e9);
}

std::string how_it_ended(const ExitInfo& exit) {
  return exit.by_signal ? "it was killed by " + exit.signal + (exit.core ? " (core dumped)" : "")
                        : fmt::format("it exited with status {}", exit.status);
}

std::string last_lines(const std::string& messages) {
  constexpr std::size_t max_lines = 6;
  std::string text = without_passwords(messages);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) {
    text.pop_back();
  }
  std::size_t at = text.size();
  for (std::size_t lines = 0; lines < max_lines && at != std::string::npos && at > 0; ++lines) {
    at = text.rfind('\n', at - 1);
  }
  if (at != std::string::npos && at > 0) {
    text.erase(0, at + 1);
  }
  std::string out;
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    out += (out.empty() ? "" : "\n") + escape_unprintable(text.substr(from, end - from));
    from = end + 1;
  }
  return out;
}

/// Returns the data that rules could not examine because the run was recorded.
std::vector<std::string> not_looked_at(const Explanation& explanation) {
  std::vector<std::string> missing = {
      "limits, user, capabilities and memory of the process: a recorded trace does not hold them"};
  bool relative = false;
  bool cut = false;
  for (const Answer& answer : explanation.answers) {
    for (const Step* step : answer.evidence) {
      relative = relative || (step->kind == Step::Kind::failure && !step->path.empty() && step->path.front() != '/' &&
                              step->path.front() != '@');
      cut = cut || (step->kind == Step::Kind::message && step->call.argument("buf").value.cut);
    }
  }
  if (relative) {
    missing.emplace_back("the directory that it ran in: -y records it");
  }
  if (cut) {
    missing.emplace_back("the rest of what it said: -s 4096 records it");
  }
  const Process& process = *explanation.process;
  if (process.crash && process.exit && process.crash->signal.name == process.exit->signal &&
      process.crash->signal.stack.empty()) {
    missing.emplace_back("the functions that it was in: -k records them");
  }
  return missing;
}

std::string with_pid(const Process& process) {
  return fmt::format("{} (pid {})", process.name().empty() ? "a process" : printable(process.name()), process.pid);
}

std::string name_of(const Process& process) {
  return process.name().empty() ? fmt::format("process {}", process.pid) : printable(process.name());
}

Explanation of_one_that_runs(const Story& story, const Process& first, const Waits& waits, bool still_running) {
  Explanation result;
  result.started = story.started();
  result.process = &first;
  result.outcome = Explanation::Outcome::running;
  result.headline = (story.live() ? describe_process(first.pid) : name_of(first)) +
                    (first.detached && !still_running ? ": was detached" : ": it still runs");
  result.verdict = verdict_on(story, waits.threads);
  result.waiting = describe_waits(waits);
  result.last_words = last_lines(first.messages());
  return result;
}

/// Returns the processes that have not exited.
std::vector<const Process*> running(const Story& story) {
  std::vector<const Process*> found;
  for (const auto& [pid, process] : story.processes()) {
    if (!process.exit && is_alive(pid)) {
      found.push_back(&process);
    }
  }
  return found;
}

/// True if a program was to be executed in the process and could not be.
bool failed_to_start(const Process& process) {
  return process.programs.empty() && std::any_of(process.steps.begin(), process.steps.end(), [](const Step& step) {
           return step.kind == Step::Kind::failure && is_listed(step.call.name, "execve execveat");
         });
}

/// Returns ` after 0.04 s`; nothing for a process that ran before it was attached to.
std::string how_long(const Story& story, const Process& process) {
  const bool began = !story.live() || !process.programs.empty() || failed_to_start(process);
  return began ? " after " + about_seconds(process.exit->time - process.started) + " s" : std::string();
}

/// Sets outcome, headline, process and chain for a story whose first process has exited.
void set_outcome(Explanation& result, const Story& story, const Process& first, std::vector<const Process*>& chain) {
  const std::string after = how_long(story, first);
  const Process* abandoned = first.exit->good() ? abandoned_failure(story, first) : nullptr;
  result.process = &first;
  if (first.exit->good() && abandoned == nullptr) {
    result.outcome = Explanation::Outcome::good;
    if (const auto left = story.live() ? running(story) : std::vector<const Process*>(); !left.empty()) {
      result.headline = fmt::format("{}: nothing looks wrong: started: pid {} runs on ({} process{} in the background)",
                                    name_of(first), left.front()->pid, left.size(), left.size() == 1 ? "" : "es");
      return;
    }
    result.headline = name_of(first) + ": nothing looks wrong: it ended well" + after;
    return;
  }
  if (const std::string meaning = meaning_of_exit(story, first); !meaning.empty()) {
    result.outcome = Explanation::Outcome::good;
    result.headline = fmt::format("{}: nothing looks wrong: it exited with status {}: {}", name_of(first),
                                  first.exit->status, meaning);
    return;
  }
  result.outcome = Explanation::Outcome::failed;
  if (abandoned != nullptr) {
    result.headline = name_of(first) + ": ended well, but " + with_pid(*abandoned) +
                      ", which it left behind, failed: " + how_it_ended(*abandoned->exit);
    result.process = culprit(story, *abandoned, chain);
    return;
  }
  result.process = culprit(story, first, chain);
  result.headline = name_of(first) +
                    (chain.size() == 1 && failed_to_start(first) ? ": could not be started: " : ": failed: ") +
                    how_it_ended(*first.exit) + after;
  for (std::size_t i = 1; i < chain.size(); ++i) {
    result.chain.push_back(with_pid(*chain[i]) + ", started by " + with_pid(*chain[i - 1]) +
                           ", failed: " + how_it_ended(*chain[i]->exit));
  }
}

/// Returns a failed process that ran beside `process`, had the same parent and spoke before: most likely one that wrote
/// what `process` reads. nullptr if there is none.
const Process* failed_beside(const Story& story, const Process& process) {
  for (const auto& [pid, other] : story.processes()) {
    const bool is_beside = pid != process.pid && other.parent == process.parent && other.exit && process.exit &&
                           other.exit->time > process.started && other.started < process.exit->time;
    if (is_beside && !other.exit->good() && !other.exit->by_signal && !other.messages().empty()) {
      return &other;
    }
  }
  return nullptr;
}

Explanation explain_end(const Story& story, const Process& process) {
  if (!process.exit) {
    return of_one_that_runs(story, process, find_waits(story), false);
  }
  Explanation result;
  result.started = story.started();
  const Process* first = &process;
  std::vector<const Process*> chain;  // of failed children, from the first process to the culprit
  set_outcome(result, story, *first, chain);
  result.ruled_out = ruled_out(*result.process);
  if (result.outcome == Explanation::Outcome::good) {
    return result;
  }
  if (result.process->programs.size() > 1 && result.process == first) {
    std::vector<std::string> names;
    for (const auto& program : first->programs.kept()) {
      names.push_back(printable(base_name(program->path)));
      if (names.size() == 1 && first->programs.left_out() != 0) {
        names.push_back(fmt::format("{} more", first->programs.left_out()));
      }
    }
    result.chain.insert(result.chain.begin(), "one process, several programs in a row: " + join(names, ", then "));
  }
  result.answers = find_causes(story, *result.process);
  const auto spoke =
      std::find_if(chain.rbegin(), chain.rend(), [](const Process* one) { return !one->messages().empty(); });
  if (result.answers.empty() && spoke != chain.rbegin() && spoke != chain.rend()) {
    // The culprit said nothing: the one that waited for it and spoke may know why.
    result.process = *spoke;
    result.chain.resize(std::min(result.chain.size(), static_cast<std::size_t>(chain.rend() - spoke) - 1));
    result.answers = find_causes(story, *result.process);
  }
  const Process* beside = result.answers.empty() ? failed_beside(story, *result.process) : nullptr;
  if (std::vector<Answer> answers = beside != nullptr ? find_causes(story, *beside) : std::vector<Answer>();
      !answers.empty()) {
    result.chain.push_back(with_pid(*beside) + ", which ran beside it, failed: " + how_it_ended(*beside->exit));
    result.process = beside;
    result.answers = std::move(answers);
  }
  result.last_words = last_lines(result.process->messages());
  result.uncaught = result.answers.empty() ? uncaught_error(*result.process) : std::string();
  if (!story.live()) {
    result.not_looked_at = not_looked_at(result);
  } else if (result.process->root != nullptr && !result.process->root->known) {
    result.not_looked_at.emplace_back("files: the root directory or the mounts that the process had are gone with it");
  }
  if (story.lost() != 0) {
    result.not_looked_at.push_back(
        fmt::format("{} events that were lost, so that what mattered may be missing here", story.lost()));
  }
  return result;
}

}  // namespace

bool runs_in_background(const Story& story) {
  const std::vector<const Process*> left = running(story);
  const pid_t session = ::getsid(0);
  return story.first() != nullptr && story.first()->exit && !left.empty() &&
         std::all_of(left.begin(), left.end(), [&](const Process* process) {
           const pid_t own = ::getsid(process->pid);
           return own > 0 && own != session;
         });
}

namespace {

Explanation explain_nothing(const Story& story) {
  Explanation result;
  result.started = story.started();
  result.headline = "nothing was seen";
  return result;
}

}  // namespace

Explanation explain(const Story& story) {
  const Process* first = story.first();
  return first != nullptr ? explain_end(story, *first) : explain_nothing(story);
}

Explanation explain(const Story& story, const Waits& waits) {
  const Process* first = story.first();
  return first != nullptr ? of_one_that_runs(story, *first, waits, true) : explain_nothing(story);
}

Explanation explain(const Story& story, const Process& process) {
  if (process.exit) {
    return explain_end(story, process);
  }
  Waits waits = find_waits(story);
  waits.unseen_processes = 0;
  std::erase_if(waits.threads, [&](const ThreadWait& wait) { return wait.pid != process.pid; });
  return of_one_that_runs(story, process, waits, false);
}

}  // namespace tracer::explain
