#include "explain/shell_script.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "explain/configuration_text.h"
#include "explain/text_search.h"

namespace tracer::explain {

namespace {

constexpr std::string_view script_shells = "sh bash dash ksh ksh93 mksh zsh yash busybox";

struct Script {
  std::string text;
  bool ends_at_errors = false;  ///< `set -e`
};

/// Returns the script of a shell: the word after `-c`, or the lines of a file.
Script script_of(const Process& process, const Prober& prober) {
  Script script;
  const auto words = process.words();
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "-o" || word == "+o") {
      script.ends_at_errors = script.ends_at_errors || (i + 1 < words.size() && words[i + 1] == "errexit");
      ++i;
      continue;
    }
    if (!word.starts_with('-')) {
      const std::string path = word.starts_with('/') ? word : process.working_directory + '/' + word;
      const ConfigurationText file(prober, path);
      for (std::size_t line = 1; line <= file.size(); ++line) {
        script.text += file.line(line) + '\n';
      }
      break;
    }
    const bool is_long = word.starts_with("--");
    script.ends_at_errors = script.ends_at_errors || (!is_long && contains(word, "e"));
    if (!is_long && contains(word, "c")) {
      const auto text = std::find_if(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end(),
                                     [](const std::string& next) { return !next.starts_with('-'); });
      script.text = text == words.end() ? std::string() : *text;
      break;
    }
  }
  script.ends_at_errors = script.ends_at_errors || contains(script.text, "set -e") || contains(script.text, "errexit");
  return script;
}

/// Returns what stands between semicolons and the ends of lines.
std::vector<std::string_view> statements_of(std::string_view text) {
  std::vector<std::string_view> statements;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(";\n"), text.size());
    const std::string_view statement = text.substr(0, end);
    if (const std::size_t start = statement.find_first_not_of(" \t"); start != std::string_view::npos) {
      statements.push_back(statement.substr(start));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return statements;
}

}  // namespace

bool script_goes_on_without(const Process& process, const Prober& prober, const std::string& given) {
  if (!is_listed(process.name(), script_shells)) {
    return false;
  }
  const Script script = script_of(process, prober);
  const std::vector<std::string_view> statements = statements_of(script.text);
  bool asks = false;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const std::string_view statement = statements[i];
    if (!contains(statement, given)) {
      continue;
    }
    asks = true;
    const bool is_last = i + 1 == statements.size();
    const bool has_other_way = contains(statement, "||");
    const bool tolerates = contains(statement, "|| true") || contains(statement, "|| :");
    const bool is_condition = statement.starts_with("if ") || statement.starts_with("while ");
    const bool ends_elsewhere = contains(script.text, "exit") || contains(script.text, "return");
    const bool goes_on =
        tolerates || (is_condition && !ends_elsewhere) ||
        (!is_last && !is_condition && !has_other_way && (contains(statement, "&&") || !script.ends_at_errors));
    if (!goes_on) {
      return false;
    }
  }
  return asks;
}

}  // namespace tracer::explain
