// Environment variables that a program wants and does not find.
#include <algorithm>
#include <array>
#include <cctype>

#include "explain/rules/rules.h"

namespace tracer::explain::rules {

namespace {

bool is_of_name(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0 || std::isdigit(static_cast<unsigned char>(c)) != 0 ||
         c == '_';
}

/// True for `DATABASE_URL`, but not for words and numbers.
bool is_variable_name(const std::string& word) {
  return word.size() > 2 && std::isdigit(static_cast<unsigned char>(word.front())) == 0 &&
         std::all_of(word.begin(), word.end(), is_of_name);
}

/// Returns the variable that a shell names in `sh: 1: DATABASE_URL: must be set`.
std::string named_by_shell(const Case& facts) {
  if (!is_listed(facts.process.name(), "sh bash dash zsh ksh busybox")) {
    return {};
  }
  std::string line = last_line(without_remarks(facts.messages));
  const auto take_word = [&] {
    const std::size_t colon = line.find(": ");
    std::string word = line.substr(0, colon);
    line.erase(0, colon == std::string::npos ? line.size() : colon + 2);
    return word;
  };
  take_word();  // the shell or its script
  const auto is_place = [](const std::string& word) {
    return word.starts_with("line ") || word.find_first_not_of("0123456789") == std::string::npos;
  };
  std::string word = take_word();
  while (!line.empty() && is_place(word)) {
    word = take_word();
  }
  return !line.empty() && is_variable_name(word) ? word : std::string();  // a builtin may stand before other words
}

/// Returns the variable of `KeyError: 'DATABASE_URL'` if the traceback shows a lookup in os.environ.
std::string named_by_python(const Case& facts) {
  const std::string line = last_line(facts.messages);
  const bool is_lookup = contains(facts.messages, "environ") ||
                         (contains(facts.messages, "<frozen os>") && contains(facts.messages, "in __getitem__"));
  return line.starts_with("KeyError: '") && is_lookup ? word_after(line, "KeyError: '", "'") : std::string();
}

/// Returns the variable of `$HOME not set` and of `environment variable DATABASE_URL is not set`.
std::string named_in_sentence(const Case& facts) {
  if (facts.process.name() == "cmake") {
    return {};  // it speaks of its own variables
  }
  for (const std::string_view words : {" not set", " is unset", " must be set", " is not defined", " unbound variable",
                                       " is set to an invalid", " does not point"}) {
    std::string line = line_with(facts.messages, words);
    line.resize(std::min(line.find(words), line.size()));
    for (const std::string_view verb : {" is", " variable", ":", " environment"}) {
      if (line.ends_with(verb)) {
        line.erase(line.size() - verb.size());
      }
    }
    const auto end = std::find_if(line.rbegin(), line.rend(), is_of_name);
    const auto begin = std::find_if_not(end, line.rend(), is_of_name);
    constexpr std::ptrdiff_t longest_end = 2;  // a quotation mark or a bracket after the name
    if (std::string word(begin.base(), end.base()); is_variable_name(word) && end - line.rbegin() <= longest_end) {
      return word;
    }
  }
  return {};
}

/// Returns the finding for a variable that has a value, but names a path that does not exist.
std::optional<Finding> wrong_value(const Case& facts, const std::string& name) {
  const std::string value = environment_value(facts.process, name);
  if (!value.starts_with('/') || facts.prober.exists(value)) {
    return std::nullopt;
  }
  Finding finding;
  finding.rule = "wrong-variable";
  finding.cause = "the environment variable " + name + " names " + printable(value) + ", which does not exist";
  finding.remedy = "set " + name + " to a path that exists, or unset it";
  return finding;
}

/// Returns the variable of Ruby's `key not found: "DATABASE_URL" (KeyError)`, of ENV.fetch.
std::string named_by_ruby(const Case& facts) {
  const std::string line = line_with(facts.messages, "key not found: \"");
  return contains(line, "fetch'") ? word_after(line, "key not found: \"", "\"") : std::string();
}

/// A value of the environment that the program quotes because it does not take it.
std::optional<Finding> refused_value(const Case& facts) {
  constexpr std::string_view of_every_program =
      "HOME USER LOGNAME LANG LC_ALL TERM HOSTNAME EDITOR SHELL PATH PWD OLDPWD _";
  constexpr std::size_t least_value = 3;  // a shorter one may be any word
  const std::string line = last_line(without_remarks(facts.messages));
  const std::string name = contains(line, "nvalid") ? source_of_value(facts.process,
                                                                      [&](std::string_view value) {
                                                                        const std::string quoted(value);
                                                                        return value.size() >= least_value &&
                                                                               (contains(line, "'" + quoted + "'") ||
                                                                                contains(line, '"' + quoted + '"'));
                                                                      })
                                                    : std::string();
  if (name.empty() || is_listed(name, of_every_program)) {
    return std::nullopt;
  }
  Finding finding;
  finding.rule = "wrong-variable";
  finding.cause = "the environment variable " + printable(name) + " is " +
                  printable(environment_value(facts.process, name)) + ", a value that the program does not take";
  finding.remedy = "correct " + printable(name) + ", or unset it";
  return finding;
}

std::optional<Finding> unset_variable(const Case& facts) {
  for (const auto find : {named_by_shell, named_by_python, named_by_ruby, named_in_sentence}) {
    if (const std::string name = find(facts); is_variable_name(name)) {
      if (!environment_value(facts.process, name).empty()) {
        return wrong_value(facts, name);
      }
      Finding finding;
      finding.cause = "the environment variable " + name + " is not set, and it needs a value";
      finding.remedy = "set it: " + name + "=VALUE before the command, or export it (systemd: Environment=)";
      return finding;
    }
  }
  return refused_value(facts);
}

constexpr Rule environment_table[] = {
    {"unset-variable", 45, "", "",
     " not set|is unset|must be set|unbound variable|is not defined|parameter null|KeyError: |equired|eeds a value|: ",
     "", unset_variable},
};

}  // namespace

std::span<const Rule> environment_rules() {
  return environment_table;
}

}  // namespace tracer::explain::rules
