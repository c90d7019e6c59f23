#include "explain/cause_search.h"

#include <algorithm>
#include <optional>

#include "base/directory.h"
#include "explain/configuration_text.h"
#include "explain/ranking.h"
#include "explain/rules/rules.h"

namespace tracer::explain {

namespace {

constexpr std::size_t max_answers = 3;
constexpr std::size_t max_looked_at = 16;  // failed calls that the rules examine, by rank
constexpr std::size_t max_places = 8;      // lines of one answer
constexpr int least_score = 25;
constexpr int sure_score = 75;
constexpr int likely_score = 45;

bool contains_any(const std::string& text, std::string_view alternatives) {
  while (!alternatives.empty()) {
    const std::size_t bar = std::min(alternatives.find('|'), alternatives.size());
    if (contains(text, alternatives.substr(0, bar))) {
      return true;
    }
    alternatives.remove_prefix(std::min(bar + 1, alternatives.size()));
  }
  return false;
}

/// Returns the step whose message matches one of the alternatives; else the last message.
const Step* message_step(const Process& process, std::string_view alternatives) {
  const Step* last = nullptr;
  for (const Step& step : process.steps) {
    if (step.kind == Step::Kind::message && step.order >= process.last_exec) {
      last = &step;
      if (contains_any(step.text, alternatives)) {
        return last;
      }
    }
  }
  return last;
}

/// Returns the path of the call that explains its error: of rename, link and the like one of two.
const std::string& path_at_fault(const Prober& prober, const Step& step) {
  const std::string& error = step.call.error;
  if (step.new_path.empty() || is_listed(error, "EXDEV EMLINK")) {
    return step.path;
  }
  if (is_listed(error, "EEXIST ENOTEMPTY EISDIR ETXTBSY ENOSPC EDQUOT")) {
    return step.new_path;
  }
  if (error == "EPERM" && prober.is_immutable(step.new_path)) {
    return step.new_path;
  }
  if (error == "ENAMETOOLONG") {
    return step.path.size() > step.new_path.size() ? step.path : step.new_path;
  }
  if (error == "EACCES") {
    const Walk directory = prober.walk(directory_of(step.path));
    return directory.exists() && prober.may(directory.info(), Access::write) ? step.new_path : step.path;
  }
  if (step.mount != nullptr) {
    return error == "ENOENT" && prober.exists(step.new_path) ? step.path : step.new_path;  // the source may be any word
  }
  return is_listed(error, "ENOENT ENOTDIR ELOOP") && prober.exists(step.path) ? step.new_path : step.path;
}

/// Returns the score that another answer needs to be worth a line beside the first: half of it, or three quarters if
/// that is almost certain.
int least_share(const Answer& first) {
  return first.score >= sure_score ? first.score * 3 / 4 : first.score / 2;
}

class Search {
 public:
  Search(const Story& story, const Process& process)
      : process_(process),
        prober_(process),
        facts_{story, process, prober_, nullptr, process.complaints(), {}},
        ranking_(process, prober_) {}

  std::vector<Answer> answers() {
    const std::vector<Rule> rules = rules::all_rules();
    search_calls(rules);
    for (const Rule& rule : rules) {
      select(nullptr);
      const bool death = process_.exit && process_.exit->by_signal;
      if (!rule.message.empty() && contains_any(facts_.messages, rule.message)) {
        const Step* message = message_step(process_, rule.message);
        add_answer(check(rule, rule.weight + 35, message));
      } else if (rule.signals == "exit") {
        add_answer(check(rule, rule.weight + 15, nullptr));
      } else if (death && !rule.signals.empty() && is_listed(process_.exit->signal, rule.signals)) {
        add_answer(check(rule, rule.weight + 55, nullptr));
      }
    }
    return best_answers();
  }

 private:
  void search_calls(const std::vector<Rule>& rules) {
    struct Ranked {
      const Step* step;
      int score;
    };
    std::vector<Ranked> ranked;
    for (const Step& step : process_.steps) {
      if (step.kind == Step::Kind::failure && step.order >= process_.last_exec) {
        ranked.push_back({&step, ranking_.of(step) + best_weight(rules, step.call)});
      }
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) { return a.score > b.score; });
    if (ranked.size() > max_looked_at) {
      ranked.resize(max_looked_at);
    }
    for (const Ranked& one : ranked) {
      select(one.step);
      const int closeness = ranking_.of(*one.step);
      const bool needs_words = ranking_.is_lookup_without_words(*one.step);
      std::optional<Answer> best;  // a call fails for one reason
      for (const Rule& rule : rules) {
        auto answer = matches(rule, one.step->call) ? check(rule, rule.weight + closeness, one.step) : std::nullopt;
        if (answer && (answer->is_said || !needs_words) && (!best || best->score < answer->score)) {
          best = std::move(answer);
        }
      }
      add_answer(std::move(best));
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

  std::optional<Answer> check(const Rule& rule, int score, const Step* step) const {
    std::optional<Finding> finding = rule.check(facts_);
    if (!finding) {
      return std::nullopt;
    }
    Answer answer;
    answer.rule = finding->rule.empty() ? std::string(rule.name) : finding->rule;
    const auto shown = [](const std::string& text) { return escape_unprintable(without_passwords(text)); };
    answer.cause = shown(finding->cause);
    std::transform(finding->looked_at.begin(), finding->looked_at.end(), std::back_inserter(answer.looked_at), shown);
    answer.remedy = shown(finding->remedy);
    answer.evidence = std::move(finding->evidence);
    answer.score = score + finding->weight;
    answer.describes_exit = finding->describes_exit;
    answer.is_said = finding->is_said;
    if (step != nullptr) {
      answer.evidence.push_back(step);
      answer.path = facts_.subject;
    }
    return answer;
  }

  void add_answer(std::optional<Answer> found) {
    if (!found) {
      return;
    }
    Answer& answer = *found;
    const auto same = std::find_if(found_.begin(), found_.end(), [&](const Answer& other) {
      return other.cause == answer.cause || (other.rule == answer.rule && is_listed(answer.rule, "name-not-resolved"));
    });
    const auto again = std::find_if(found_.begin(), found_.end(), [&](const Answer& other) {
      return !answer.path.empty() && other.rule == "missing-file" && answer.rule == other.rule &&
             is_same_search(other.path, answer.path);
    });
    if (same != found_.end()) {
      if (same->score < answer.score) {
        *same = std::move(answer);
      }
    } else if (again != found_.end()) {
      // search_calls() adds the answer with the best rank first.
      if (directory_of(answer.path) == process_.working_directory && base_name(again->path) == base_name(answer.path) &&
          directory_of(again->path) != process_.working_directory) {
        std::swap(answer.score, again->score);
        std::swap(answer, *again);  // it looked there first, and then in other directories
      }
      std::vector<std::string>& seen = again->looked_at;
      const std::string other = "also looked for as " + printable(answer.path);
      if (base_name(again->path) == base_name(answer.path) && again->path != answer.path && seen.size() < max_places &&
          std::find(seen.begin(), seen.end(), other) == seen.end()) {
        seen.push_back(other);
      }
    } else {
      found_.push_back(std::move(answer));
    }
  }

  /// True if the paths are one file in different directories, or one is below the other.
  static bool is_same_search(const std::string& one, const std::string& other) {
    const auto is_below = [](const std::string& path, const std::string& directory) {
      return path.size() > directory.size() && path.compare(0, directory.size(), directory) == 0 &&
             path[directory.size()] == '/';
    };
    return base_name(one) == base_name(other) || is_below(one, other) || is_below(other, one);
  }

  std::vector<Answer> best_answers() {
    std::stable_sort(found_.begin(), found_.end(), [](const Answer& a, const Answer& b) { return a.score > b.score; });
    std::vector<Answer> answers;
    for (Answer& answer : found_) {
      if (answer.score < least_score || answers.size() == max_answers ||
          (!answers.empty() && (answer.score < least_share(answers.front()) || answer.describes_exit ||
                                (answers.front().rule == "missing-module" && answer.rule == "missing-file")))) {
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

  /// Adds the last message and sorts the evidence.
  void complete_evidence(Answer& answer) const {
    const Step* last = nullptr;
    for (const Step& step : process_.steps) {
      if (step.kind == Step::Kind::message && step.order >= process_.last_exec && step.text.size() > 1) {
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

  void select(const Step* step) {
    facts_.step = step;
    prober_.select(step);
    facts_.subject = step != nullptr ? path_at_fault(prober_, *step) : std::string();
  }

  const Process& process_;
  Prober prober_;
  Case facts_;
  Ranking ranking_;
  std::vector<Answer> found_;
};

}  // namespace

namespace {

/// True if the process was to execute a program, and the step kept it from that: it is its last one, or that call.
bool prevents_exec(const Process& process, const Step& step) {
  constexpr std::string_view preparations =
      "chdir fchdir chroot setuid setgid setgroups setresuid setresgid setsid dup2";
  return process.last_exec == 0 && (is_listed(step.call.name, "execve execveat") ||
                                    (&step == &process.steps.back() && is_listed(step.call.name, preparations)));
}

/// Returns the process whose failed call `speaker` names with its path and error, for itself or as the last; nullptr if
/// there is none.
const Process* spoken_for(const Story& story, const Process& speaker) {
  const Process* found = nullptr;
  std::uint64_t latest = 0;
  const std::string words = speaker.messages();
  for (const auto& [pid, process] : story.processes()) {
    for (const Step& step : process.steps) {
      const bool is_failure = step.kind == Step::Kind::failure && pid != speaker.pid && step.order > latest;
      const bool says_error =
          is_failure && (contains(words, error_text_of(step.call.error)) || is_named(step.call.error, words));
      // Its own words, with the whole path.
      const bool says_all = is_failure && is_listed(step.call.error, "ENOENT ENOTDIR EACCES") &&
                            is_named(step.path, words) && reports_inability(words);
      if (says_all || (says_error && (Ranking::is_mentioned(step.path, words) || prevents_exec(process, step)))) {
        found = &process;
        latest = step.order;
      }
    }
  }
  return found;
}

/// Returns `process` as if it had written what `speaker` wrote.
Process with_words_of(const Process& process, const Process& speaker) {
  Process both = process;
  for (const Step& step : speaker.steps) {
    if (step.kind == Step::Kind::message) {
      both.steps.push_back(step);
      both.steps.back().number = both.calls;
    }
  }
  std::stable_sort(both.steps.begin(), both.steps.end(),
                   [](const Step& a, const Step& b) { return a.order < b.order; });
  both.exit = speaker.exit;
  return both;
}

/// Returns the step of one of the two that has the order of `copy`; `copy` itself ends with its process.
const Step* original_of(const Step& copy, const Process& one, const Process& other) {
  for (const Process* process : {&one, &other}) {
    for (const Step& step : process->steps) {
      if (step.order == copy.order) {
        return &step;
      }
    }
  }
  return nullptr;
}

}  // namespace

std::vector<Answer> find_causes(const Story& story, const Process& process) {
  std::vector<Answer> answers = Search(story, process).answers();
  const Process* other = answers.empty() ? spoken_for(story, process) : nullptr;
  if (other == nullptr) {
    return answers;
  }
  const Process both = with_words_of(*other, process);
  answers = Search(story, both).answers();
  for (Answer& answer : answers) {
    answer.pid = other->pid;
    std::vector<const Step*> evidence;
    for (const Step* step : answer.evidence) {
      if (const Step* original = original_of(*step, process, *other); original != nullptr) {
        evidence.push_back(original);
      }
    }
    answer.evidence = std::move(evidence);
  }
  return answers;
}

}  // namespace tracer::explain
