#include "explain/explanation.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>

#include "explain/benign.h"
#include "explain/owners.h"
#include "spell/error_names.h"

namespace tracer::explain {

namespace {

constexpr std::size_t most_answers = 3;
constexpr std::size_t most_looked_at = 16;  // steps that rules look at, the best ones
constexpr std::size_t most_places = 8;      // of an answer that were looked at
constexpr int least_score = 25;
constexpr int sure_score = 75;
constexpr int likely_score = 45;

std::string error_text_of(std::string_view name) {
  constexpr int last_error = 133;
  for (int number = 1; number <= last_error; ++number) {
    if (spell::error_name(number) == name) {
      return std::string(spell::error_text(number));
    }
  }
  return {};
}

bool contains(std::string_view text, std::string_view part) {
  return !part.empty() && text.find(part) != std::string_view::npos;
}

std::string seconds(Time time) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.2f", static_cast<double>(time.count()) / 1e9);
  return text.data();
}

// ---------------------------------------------------------------------------------------------- who failed

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

/// Of a program that ended well itself: a child that failed and that nobody waited for.
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

// ---------------------------------------------------------------------------------------------- what led there

/// Lines that tell of something that the program can do without, or of no failure at all.
std::string without_remarks(const std::string& text) {
  constexpr std::array<std::string_view, 13> remarks = {"LOG:",     "INFO",     "[info]", "DEBUG",   "[debug]",
                                                        "NOTICE",   "[notice]", "arning", "WARNING", "skipping",
                                                        "ignoring", "gnored",   "[warn]"};
  std::string kept;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(from, end - from);
    if (std::none_of(remarks.begin(), remarks.end(), [&](std::string_view remark) { return contains(line, remark); })) {
      kept += line;
    }
    from = end;
  }
  return kept;
}

/// How closely a failed call is tied to the end.
class Ranking {
 public:
  explicit Ranking(const Process& process) : process_(process) {
    for (const Step& step : process.steps) {
      if (step.order < process.image_begins) {
        continue;
      }
      if (step.kind == Step::Kind::said) {
        said_.push_back(&step);
      } else if (step.kind == Step::Kind::failure && benign_reason(process, step).empty()) {
        last_ = &step;
        last_by_error_[step.call.error] = &step;
      }
    }
  }

  [[nodiscard]] int of(const Step& step) const {
    std::string after;
    std::uint64_t next = process_.calls;
    for (auto said = said_.rbegin(); said != said_.rend() && (*said)->order > step.order; ++said) {
      after.insert(0, (*said)->text);
      next = (*said)->number;
    }
    after = without_remarks(after);
    int score = 0;
    const std::string name = base_name(step.path);
    if (contains(after, step.path)) {
      score += 40;
    } else if (name.size() > 2 && contains(after, name)) {
      score += 35;
    }
    if (contains(after, error_text_of(step.call.error))) {
      score += last_with_text(step) ? 30 : 8;
    }
    const std::uint64_t distance = next > step.number ? next - step.number - 1 : 0;
    score += distance == 0 ? 20 : distance <= 2 ? 15 : distance <= 6 ? 10 : distance <= 20 ? 5 : 0;
    score += &step == last_ ? 10 : 0;
    const bool asks_only =
        is_listed(step.call.name, "access faccessat faccessat2 stat newfstatat lstat statx readlink readlinkat");
    score -= asks_only && step.call.error == "ENOENT" ? 10 : 0;
    score -= benign_reason(process_, step).empty() ? 0 : 45;
    return score;
  }

 private:
  /// No later failure with that error comes before the text that tells of it.
  [[nodiscard]] bool last_with_text(const Step& step) const {
    const std::string text = error_text_of(step.call.error);
    const Step* teller = nullptr;
    for (const Step* said : said_) {
      if (said->order > step.order && contains(said->text, text)) {
        teller = said;
        break;
      }
    }
    return std::none_of(process_.steps.begin(), process_.steps.end(), [&](const Step& other) {
      return other.kind == Step::Kind::failure && other.call.error == step.call.error && other.order > step.order &&
             (teller == nullptr || other.order < teller->order) && benign_reason(process_, other).empty();
    });
  }

  const Process& process_;
  std::vector<const Step*> said_;
  const Step* last_ = nullptr;
  std::map<std::string, const Step*> last_by_error_;
};

bool says_one_of(const std::string& said, std::string_view alternatives) {
  while (!alternatives.empty()) {
    const std::size_t bar = std::min(alternatives.find('|'), alternatives.size());
    if (contains(said, alternatives.substr(0, bar))) {
      return true;
    }
    alternatives.remove_prefix(std::min(bar + 1, alternatives.size()));
  }
  return false;
}

/// The step of standard error that a text rule spoke about.
const Step* teller_of(const Process& process, std::string_view alternatives) {
  const Step* last = nullptr;
  for (const Step& step : process.steps) {
    if (step.kind == Step::Kind::said && step.order >= process.image_begins) {
      last = &step;
      if (says_one_of(step.text, alternatives)) {
        return last;
      }
    }
  }
  return last;
}

class Search {
 public:
  Search(const Story& story, const Process& process)
      : process_(process),
        prober_(process),
        facts_{story, process, prober_, nullptr, process.said()},
        ranking_(process) {}

  std::vector<Answer> answers() {
    const std::vector<Rule> rules = all_rules();
    by_calls(rules);
    for (const Rule& rule : rules) {
      turn_to(nullptr);
      const bool death = process_.end && process_.end->by_signal;
      if (!rule.says.empty() && says_one_of(facts_.said, rule.says)) {
        const Step* teller = teller_of(process_, rule.says);
        add(rule, rule.weight + 35, teller);
      } else if (rule.signals == "exit") {
        add(rule, rule.weight + 15, nullptr);
      } else if (death && !rule.signals.empty() && is_listed(process_.end->signal, rule.signals)) {
        add(rule, rule.weight + 55, nullptr);
      }
    }
    return best();
  }

 private:
  void by_calls(const std::vector<Rule>& rules) {
    struct Ranked {
      const Step* step;
      int score;
    };
    std::vector<Ranked> ranked;
    for (const Step& step : process_.steps) {
      if (step.kind == Step::Kind::failure && step.order >= process_.image_begins) {
        ranked.push_back({&step, ranking_.of(step) + best_weight(rules, step.call)});
      }
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) { return a.score > b.score; });
    if (ranked.size() > most_looked_at) {
      ranked.resize(most_looked_at);
    }
    for (const Ranked& one : ranked) {
      turn_to(one.step);
      const int closeness = ranking_.of(*one.step);
      for (const Rule& rule : rules) {
        if (matches(rule, one.step->call)) {
          add(rule, rule.weight + closeness, one.step);
        }
      }
    }
  }

  static bool matches(const Rule& rule, const Call& call) {
    return !rule.calls.empty() && (rule.calls == "*" || is_listed(call.name, rule.calls)) &&
           (rule.errors.empty() || is_listed(call.error, rule.errors));
  }

  static int best_weight(const std::vector<Rule>& rules, const Call& call) {
    int best = -100;
    for (const Rule& rule : rules) {
      if (matches(rule, call)) {
        best = std::max(best, rule.weight);
      }
    }
    return best;
  }

  void add(const Rule& rule, int score, const Step* step) {
    std::optional<Finding> finding = rule.look(facts_);
    if (!finding) {
      return;
    }
    Answer answer;
    answer.rule = finding->rule.empty() ? std::string(rule.name) : finding->rule;
    answer.cause = std::move(finding->cause);
    answer.looked_at = std::move(finding->looked_at);
    answer.remedy = std::move(finding->remedy);
    answer.evidence = std::move(finding->evidence);
    answer.score = score + finding->weight;
    if (step != nullptr) {
      answer.evidence.push_back(step);
    }
    const auto same = std::find_if(found_.begin(), found_.end(), [&](const Answer& other) {
      return other.cause == answer.cause || (other.rule == answer.rule && is_listed(answer.rule, "name-not-resolved"));
    });
    const auto again = std::find_if(found_.begin(), found_.end(), [&](const Answer& other) {
      return step != nullptr && other.rule == "missing-file" && answer.rule == other.rule &&
             is_same_search(other.path, step->path);
    });
    if (step != nullptr) {
      answer.path = step->path;
    }
    if (same != found_.end()) {
      if (same->score < answer.score) {
        *same = std::move(answer);
      }
    } else if (again != found_.end()) {
      // By calls, the best one comes first.
      std::vector<std::string>& seen = again->looked_at;
      const std::string other = "also looked for as " + printable(answer.path);
      if (base_name(again->path) == base_name(answer.path) && again->path != answer.path && seen.size() < most_places &&
          std::find(seen.begin(), seen.end(), other) == seen.end()) {
        seen.push_back(other);
      }
    } else {
      found_.push_back(std::move(answer));
    }
  }

  /// One file in several folders, or folders on the way to it.
  static bool is_same_search(const std::string& one, const std::string& other) {
    const auto is_below = [](const std::string& path, const std::string& folder) {
      return path.size() > folder.size() && path.compare(0, folder.size(), folder) == 0 && path[folder.size()] == '/';
    };
    return base_name(one) == base_name(other) || is_below(one, other) || is_below(other, one);
  }

  std::vector<Answer> best() {
    std::stable_sort(found_.begin(), found_.end(), [](const Answer& a, const Answer& b) { return a.score > b.score; });
    std::vector<Answer> answers;
    for (Answer& answer : found_) {
      if (answer.score < least_score || answers.size() == most_answers ||
          (!answers.empty() && answer.score * 2 < answers.front().score)) {
        continue;
      }
      answer.confidence = answer.score >= sure_score     ? "almost certainly"
                          : answer.score >= likely_score ? "most likely"
                                                         : "possibly";
      complete_evidence(answer);
      answers.push_back(std::move(answer));
    }
    return answers;
  }

  /// With the last thing it said.
  void complete_evidence(Answer& answer) const {
    const Step* last = nullptr;
    for (const Step& step : process_.steps) {
      if (step.kind == Step::Kind::said && step.order >= process_.image_begins && step.text.size() > 1) {
        last = &step;
      }
    }
    if (last != nullptr) {
      answer.evidence.push_back(last);
    }
    std::sort(answer.evidence.begin(), answer.evidence.end(),
              [](const Step* a, const Step* b) { return a->order < b->order; });
    answer.evidence.erase(std::unique(answer.evidence.begin(), answer.evidence.end()), answer.evidence.end());
  }

  void turn_to(const Step* step) {
    facts_.step = step;
    prober_.turn_to(step);
  }

  const Process& process_;
  Prober prober_;
  Case facts_;
  Ranking ranking_;
  std::vector<Answer> found_;
};

// ---------------------------------------------------------------------------------------------- words

std::string how_it_ended(const End& end) {
  return end.by_signal ? "it was killed by " + end.signal + (end.core ? " (core dumped)" : "")
                       : "it exited with status " + std::to_string(end.status);
}

std::string last_lines(const std::string& said) {
  constexpr std::size_t most_lines = 6;
  std::string text = said;
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) {
    text.pop_back();
  }
  std::size_t at = text.size();
  for (std::size_t lines = 0; lines < most_lines && at != std::string::npos && at > 0; ++lines) {
    at = text.rfind('\n', at - 1);
  }
  if (at != std::string::npos && at > 0) {
    text.erase(0, at + 1);
  }
  std::string out;
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    out += (out.empty() ? "" : "\n") + printable(text.substr(from, end - from));
    from = end + 1;
  }
  return out;
}

/// What rules would have looked at, had the process been there.
std::vector<std::string> not_looked_at(const Explanation& explanation) {
  std::vector<std::string> missing = {
      "limits, user, capabilities and memory of the process: a recorded trace does not hold them"};
  bool relative = false;
  bool cut = false;
  for (const Answer& answer : explanation.answers) {
    for (const Step* step : answer.evidence) {
      relative = relative || (step->kind == Step::Kind::failure && !step->path.empty() && step->path.front() != '/' &&
                              step->path.front() != '@');
      cut = cut || (step->kind == Step::Kind::said && step->call.argument("buf").value.cut);
    }
  }
  if (relative) {
    missing.emplace_back("the folder that it ran in: -y records it");
  }
  if (cut) {
    missing.emplace_back("the rest of what it said: -s 1024 records it");
  }
  const Process& process = *explanation.process;
  if (process.crash && process.end && process.crash->signal.name == process.end->signal &&
      process.crash->signal.stack.empty()) {
    missing.emplace_back("the functions that it was in: -k records them");
  }
  return missing;
}

std::string with_pid(const Process& process) {
  return (process.name().empty() ? "a process" : printable(process.name())) + " (pid " + std::to_string(process.pid) +
         ")";
}

}  // namespace

Explanation explain(const Story& story, bool still_running) {
  Explanation result;
  result.began = story.began();
  const Process* first = story.first();
  if (first == nullptr) {
    result.headline = "nothing was seen";
    return result;
  }
  const std::string name = first->name().empty() ? "process " + std::to_string(first->pid) : printable(first->name());
  result.process = first;
  if (still_running || !first->end) {
    result.outcome = Explanation::Outcome::running;
    result.headline = (story.surroundings() != nullptr ? describe_process(first->pid) : name) +
                      (first->detached && !still_running ? ": was let go" : ": it still runs");
    result.waiting = describe_waiting(story);
    result.last_words = last_lines(first->said());
    return result;
  }
  const std::string after = " after " + seconds(first->end->time - first->began) + " s";
  if (first->end->good()) {
    const Process* abandoned = abandoned_failure(story, *first);
    result.ruled_out = ruled_out(*first);
    if (abandoned == nullptr) {
      result.outcome = Explanation::Outcome::good;
      result.headline = name + ": nothing looks wrong: it ended well" + after;
      return result;
    }
    result.outcome = Explanation::Outcome::failed;
    result.headline = name + ": ended well, but " + with_pid(*abandoned) +
                      ", which it left behind, failed: " + how_it_ended(*abandoned->end);
    std::vector<const Process*> chain;
    result.process = culprit(story, *abandoned, chain);
  } else {
    result.outcome = Explanation::Outcome::failed;
    std::vector<const Process*> chain;
    result.process = culprit(story, *first, chain);
    result.headline = name +
                      (chain.size() == 1 && first->programs.empty() ? ": could not be started: " : ": failed: ") +
                      how_it_ended(*first->end) + after;
    for (std::size_t i = 1; i < chain.size(); ++i) {
      result.chain.push_back(with_pid(*chain[i]) + ", started by " + with_pid(*chain[i - 1]) +
                             ", failed: " + how_it_ended(*chain[i]->end));
    }
  }
  if (result.process->programs.size() > 1 && result.process == first) {
    std::vector<std::string> names;
    for (const Program& program : first->programs) {
      names.push_back(printable(base_name(program.path)));
    }
    result.chain.insert(result.chain.begin(), "one process, several programs in a row: " + join(names, ", then "));
  }
  Search search(story, *result.process);
  result.answers = search.answers();
  result.last_words = last_lines(result.process->said());
  result.ruled_out = ruled_out(*result.process);
  if (story.surroundings() == nullptr) {
    result.not_looked_at = not_looked_at(result);
  } else if (result.process->root != nullptr && !result.process->root->known) {
    result.not_looked_at.emplace_back("files: the root folder or the mounts that the process had are gone with it");
  }
  if (story.lost() != 0) {
    result.not_looked_at.push_back(std::to_string(story.lost()) +
                                   " events that were lost, so that what mattered may be missing here");
  }
  return result;
}

}  // namespace tracer::explain
