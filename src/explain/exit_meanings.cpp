#include "explain/exit_meanings.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "explain/text_search.h"

namespace tracer::explain {

namespace {

struct Meaning {
  std::string_view programs;
  int status;
  std::string_view words;
  std::string_view arguments = {};  ///< one of them has to stand in the command; "": any command
};

// As the manuals of these programs say.
constexpr std::array<Meaning, 19> meanings = {{
    {"grep egrep fgrep zgrep rgrep rg ugrep", 1, "no line matched"},
    {"diff cmp zdiff zcmp sdiff diff3 comm colordiff", 1, "the files differ"},
    {"test [", 1, "the condition is false"},
    {"expr", 1, "the value is empty or 0"},
    {"pgrep pkill pidof", 1, "no process matched"},
    {"mountpoint", 32, "it is no mount point"},
    {"getent", 2, "there is no such entry"},
    {"which", 1, "there is no such program in PATH"},
    {"false", 1, "that is all that it does"},
    {"git", 1, "no line matched", "grep"},
    {"git", 1, "there are differences", "--exit-code --quiet"},
    {"git", 1, "the one commit is no ancestor of the other", "--is-ancestor"},
    {"git", 1, "no path is ignored", "check-ignore"},
    {"git", 1, "there is no such setting", "config"},
    {"systemctl", 3, "the unit is not active", "is-active"},
    {"systemctl", 1, "the unit is not enabled, or has not failed", "is-enabled is-failed"},
    {"make gmake", 1, "a target is not up to date", "-q --question"},
    {"ssh-keygen", 1, "the host is not in the file", "-F"},
    {"jq", 1, "the last value is false or null", "-e --exit-status"},
}};

constexpr std::string_view shells = "sh bash dash ksh zsh ash mksh busybox";

/// True for `sh -c 'test …'`, whose only command is the shell's own.
bool is_test(const Process& process) {
  const auto words = process.words();
  if (words.size() < 3 || words[1] != "-c" || words[2].find_first_of(";&|\n") != std::string::npos) {
    return false;
  }
  return words[2].starts_with("test ") || words[2].starts_with("[ ") || words[2].starts_with("[[ ");
}

bool has_argument(const Process& process, std::string_view wanted) {
  const auto words = process.words();
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) { return is_listed(word, wanted); });
}

/// Returns the last failed child that `process` waited for; nullptr if there is none.
const Process* last_failed_child(const Story& story, const Process& process) {
  for (auto step = process.steps.rbegin(); step != process.steps.rend(); ++step) {
    const Process* child = step->kind == Step::Kind::waited ? story.find(step->child) : nullptr;
    if (child != nullptr && step->order >= process.last_exec && child->exit && !child->exit->good()) {
      return child;
    }
  }
  return nullptr;
}

}  // namespace

std::string meaning_of_exit(const Story& story, const Process& process) {
  if (!process.exit || process.exit->by_signal || !process.messages().empty()) {
    return {};
  }
  if (is_listed(process.name(), shells)) {
    if (process.exit->status == 1 && is_test(process)) {
      return "the condition is false";
    }
    const Process* child = last_failed_child(story, process);
    const bool is_its = child != nullptr && child->exit && child->pid > process.pid && !child->exit->by_signal &&
                        child->exit->status == process.exit->status;
    const std::string meaning = is_its ? meaning_of_exit(story, *child) : std::string();
    return meaning.empty() ? meaning : child->name() + ": " + meaning;
  }
  const auto* at = std::find_if(meanings.begin(), meanings.end(), [&](const Meaning& meaning) {
    return process.exit->status == meaning.status && is_listed(process.name(), meaning.programs) &&
           (meaning.arguments.empty() || has_argument(process, meaning.arguments));
  });
  return at == meanings.end() ? std::string() : std::string(at->words);
}

}  // namespace tracer::explain
