#include "cli/completions.h"

#include <algorithm>
#include <vector>

#include "cli/option_table.h"

namespace tracer::cli {

namespace {

/// The kind of an argument, by its placeholder in options.def.
enum class Completion : std::uint8_t {
  none,
  words,  ///< `a|b|c`: one word of these
  list,   ///< `a|b|c[,...]`: several words, separated by commas
  calls,
  expression,
  file,
  process,
  user,
  variable,
};

constexpr std::string_view list_end = "[,...]";

Completion completion_of(const OptionRow& row) {
  const std::string_view placeholder = row.placeholder;
  if (row.id == OptionId::expression) {
    return Completion::expression;
  }
  if (placeholder.ends_with(list_end)) {
    return Completion::list;
  }
  if (placeholder.find('|') != std::string_view::npos) {
    return Completion::words;
  }
  if (placeholder.starts_with("SET")) {
    return Completion::calls;
  }
  if (placeholder.starts_with("FILE") || placeholder == "PATH") {
    return Completion::file;
  }
  if (placeholder.starts_with("PID")) {
    return Completion::process;
  }
  return placeholder == "USER"            ? Completion::user
         : placeholder.starts_with("VAR") ? Completion::variable
                                          : Completion::none;
}

template <typename Visit>
void for_each_part(std::string_view text, char separator, Visit visit) {
  while (!text.empty()) {
    const auto part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    visit(part);
  }
}

/// Returns `a b c` for the placeholder `a|b|c`.
std::string words_of(const OptionRow& row) {
  std::string_view placeholder = row.placeholder;
  if (placeholder.ends_with(list_end)) {
    placeholder.remove_suffix(list_end.size());
  }
  std::string words(placeholder);
  std::replace(words.begin(), words.end(), '|', ' ');
  return words;
}

std::vector<std::string> long_names_of(const OptionRow& row) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) { names.push_back("--" + std::string(name)); };
  if (!row.long_name.empty()) {
    add(row.long_name);
    for_each_part(row.other_names, ' ', add);
  }
  return names;
}

std::vector<std::string> names_of(const OptionRow& row) {
  auto names = long_names_of(row);
  if (row.letter != 0) {
    names.insert(names.begin(), std::string{'-', row.letter});
  }
  return names;
}

template <typename Words>
std::string joined(const Words& words, std::string_view separator = " ") {
  std::string text;
  for (const auto& word : words) {
    text.append(text.empty() ? "" : separator).append(word);
  }
  return text;
}

/// Puts text into single quotes; the characters `also` get a backslash, for the program that reads it after the shell.
std::string in_quotes(std::string_view text, std::string_view quote, std::string_view also = {}) {
  std::string result;
  for (const char c : text) {
    if (also.find(c) != std::string_view::npos) {
      result += '\\';
    }
    result += c == '\'' ? std::string(quote) : std::string(1, c);
  }
  return '\'' + result + '\'';
}

std::string all_qualifiers() {
  std::string text;
  for (const OptionRow& row : option_rows()) {
    for_each_part(row.qualifiers, ' ', [&](std::string_view name) { text += ' ' + std::string(name); });
  }
  return text.empty() ? text : text.substr(1);
}

// ---------------------------------------------------------------------------------------------- bash

std::string bash_action(const OptionRow& row) {
  switch (completion_of(row)) {
    case Completion::words:
      return "_tracer_words '" + words_of(row) + "'";
    case Completion::list:
      return "_tracer_list '" + words_of(row) + "'";
    case Completion::calls:
      return "_tracer_list \"$_tracer_calls\"";
    case Completion::expression:
      return "_tracer_words \"$_tracer_calls $_tracer_qualifiers\"";
    case Completion::file:
      return "COMPREPLY=($(compgen -f -- \"$cur\")); compopt -o filenames";
    case Completion::process:
      return "_tracer_list \"$(cd /proc && echo [0-9]*)\"";
    case Completion::user:
      return "COMPREPLY=($(compgen -u -- \"$cur\"))";
    case Completion::variable:
      return "COMPREPLY=($(compgen -e -- \"$cur\"))";
    case Completion::none:
      break;
  }
  return ":";
}

constexpr std::string_view bash_begin = R"sh(
_tracer_words() {
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
  [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}

_tracer_list() {
  local before=
  [[ $cur == *,* ]] && before=${cur%,*},
  COMPREPLY=($(compgen -P "$before" -W "$1" -- "${cur##*,}"))
  compopt -o nospace
}

# The value of an option; fails if the option has none.
_tracer_value() {
  case $1 in
)sh";

constexpr std::string_view bash_middle = R"sh(    *) return 1 ;;
  esac
}

_tracer() {
  local cur=${COMP_WORDS[COMP_CWORD]} given= i
  # bash splits words at `=`.
  local -a words=("${COMP_WORDS[@]:0:COMP_CWORD}")
  local equals=
  if [[ $cur == = ]]; then
    equals=1 cur= given=${words[COMP_CWORD - 1]}
  elif [[ ${words[COMP_CWORD - 1]} == = ]]; then
    equals=1 given=${words[COMP_CWORD - 2]}
  else
    given=${words[COMP_CWORD - 1]}
  fi
)sh";

constexpr std::string_view bash_end = R"sh(  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${words[i]} in
      --) ((++i)); break ;;
      -*) [[ " $required " == *" ${words[i]} "* && ${words[i + 1]} != = ]] && ((++i)) ;;
      *) break ;;
    esac
    while [[ ${words[i + 1]} == = ]]; do ((i += 2)); done
  done
  if ((i < COMP_CWORD)); then  # the command's own words
    if declare -F _command_offset >/dev/null; then
      _command_offset "$i"
    else
      COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames
    fi
    return
  fi
  if [[ $equals || " $required " == *" $given "* ]]; then
    _tracer_value "$given" && return
  fi
  if [[ $cur == -* ]]; then
    _tracer_words "$options"
  else
    COMPREPLY=($(compgen -c -- "$cur"))
  fi
}

complete -F _tracer tracer
)sh";

std::string bash(std::span<const std::string_view> calls) {
  std::string text = "# bash completion for tracer; made from its table of options\n";
  text += "_tracer_calls='" + joined(calls) + "'\n";
  std::string with_equals;
  std::string required;
  std::string options;
  std::string cases;
  for (const OptionRow& row : option_rows()) {
    for (const std::string& name : names_of(row)) {
      const bool is_long = name.starts_with("--");
      options += ' ' + name + (is_long && row.form != ArgumentForm::none ? "=" : "");
      required += row.form == ArgumentForm::required ? ' ' + name : "";
    }
    std::vector<std::string> keys = row.form == ArgumentForm::none ? std::vector<std::string>{} : names_of(row);
    for_each_part(row.qualifiers, ' ', [&](std::string_view name) {
      keys.emplace_back(name);
      with_equals += ' ' + std::string(name) + '=';
    });
    if (!keys.empty()) {
      cases += "    " + joined(keys, "|") + ") " + bash_action(row) + " ;;\n";
    }
  }
  text += "_tracer_qualifiers='" + with_equals.substr(1) + "'\n";
  text += bash_begin;
  text += cases;
  text += bash_middle;
  text += "  local required='" + required.substr(1) + "'\n";
  text += "  local options='" + options.substr(1) + "'\n";
  text += bash_end;
  return text;
}

// ---------------------------------------------------------------------------------------------- zsh

std::string zsh_action(const OptionRow& row) {
  switch (completion_of(row)) {
    case Completion::words:
      return "(" + words_of(row) + ")";
    case Completion::list:
      return "{_sequence compadd - " + words_of(row) + "}";
    case Completion::calls:
      return "_tracer_calls";
    case Completion::expression:
      return "_tracer_expression";
    case Completion::file:
      return "_files";
    case Completion::process:
      return "{_sequence _pids}";
    case Completion::user:
      return "_users";
    case Completion::variable:
      return "_parameters -g \"*export*\"";
    case Completion::none:
      break;
  }
  return " ";
}

std::string zsh(std::span<const std::string_view> calls) {
  std::string text =
      "#compdef tracer\n"
      "# zsh completion for tracer; made from its table of options\n"
      "_tracer_calls() {\n"
      "  local -a calls=(" +
      joined(calls) +
      ")\n"
      "  _sequence compadd - $calls\n"
      "}\n"
      "_tracer_expression() {\n"
      "  if compset -P '*='; then\n"
      "    _tracer_calls\n"
      "  else\n"
      "    local -a qualifiers=(" +
      all_qualifiers() +
      ")\n"
      "    compadd -q -S = - $qualifiers\n"
      "    _tracer_calls\n"
      "  fi\n"
      "}\n"
      "_arguments -s -S \\\n";
  for (const OptionRow& row : option_rows()) {
    for (const std::string& name : names_of(row)) {
      const bool is_long = name.starts_with("--");
      if (!is_long && row.form == ArgumentForm::optional) {
        text += "  " + in_quotes("*" + name + "[" + std::string(row.help) + "]", "'\\''") + " \\\n";
        continue;
      }
      const std::string_view mark = row.form == ArgumentForm::none       ? ""
                                    : row.form == ArgumentForm::optional ? "=-"
                                    : is_long                            ? "="
                                                                         : "+";
      std::string help(row.help);
      for (auto at = help.find_first_of("[]:\\"); at != std::string::npos; at = help.find_first_of("[]:\\", at + 2)) {
        help.insert(at, "\\");
      }
      std::string spec = "*" + name;
      spec.append(mark).append("[").append(help).append("]");
      if (row.form != ArgumentForm::none) {
        std::string what(row.placeholder.substr(0, row.placeholder.find_first_of("[,|:")));
        spec += (row.form == ArgumentForm::optional ? "::" : ":") + what + ":" + zsh_action(row);
      }
      text += "  " + in_quotes(spec, "'\\''") + " \\\n";
    }
  }
  return text + "  '(-):command:_command_names -e' '*::arguments:_normal'\n";
}

// ---------------------------------------------------------------------------------------------- fish

std::string fish_list(const std::string& words) {
  return "(__tracer_list " + words + ")";
}

/// Returns `-x -a '…'`, or nothing.
std::string fish_argument(const OptionRow& row) {
  const auto with = [](const std::string& words) { return " -x -a " + in_quotes(words, "\\'"); };
  switch (completion_of(row)) {
    case Completion::words:
      return with(words_of(row));
    case Completion::list:
      return with(fish_list(words_of(row)));
    case Completion::calls:
      return with(fish_list("$__tracer_calls"));
    case Completion::expression:
      return with(all_qualifiers() + " (__tracer_expression)");
    case Completion::file:
      return " -r -F";
    case Completion::process:
      return with("(__fish_complete_pids)");
    case Completion::user:
      return with("(__fish_complete_users)");
    case Completion::variable:
      return with("(set -nx)");
    case Completion::none:
      break;
  }
  return " -x";
}

std::string fish(std::span<const std::string_view> calls) {
  std::string text =
      "# fish completion for tracer; made from its table of options\n"
      "set -g __tracer_calls " +
      joined(calls) +
      "\n"
      "function __tracer_list\n"
      "  set -l before (commandline -ct | string match -r '^.*[,=]')\n"
      "  printf '%s\\n' \"$before\"$argv\n"
      "end\n"
      "function __tracer_expression\n"
      "  __tracer_list $__tracer_calls\n"
      "end\n"
      "complete -c tracer -x -a '(__fish_complete_subcommand";
  for (const OptionRow& row : option_rows()) {
    for (const std::string& name : names_of(row)) {
      text += row.form == ArgumentForm::required ? ' ' + name : "";
    }
  }
  text += ")'\n";
  for (const OptionRow& row : option_rows()) {
    std::string line = "complete -c tracer";
    if (row.letter != 0) {
      line += std::string(" -s ") + row.letter;
    }
    for (const std::string& name : long_names_of(row)) {
      line += " -l " + name.substr(2);
    }
    if (row.letter == 0 && row.long_name.empty()) {
      continue;  // it is only a qualifier of -e
    }
    line += " -d " + in_quotes(row.help, "\\'", "\\");
    if (row.form == ArgumentForm::required) {
      line += fish_argument(row);
    } else if (row.form == ArgumentForm::optional) {
      line += " -f -a " +
              in_quotes(completion_of(row) == Completion::words ? words_of(row) : fish_list(words_of(row)), "\\'");
    }
    text += line + '\n';
  }
  return text;
}

}  // namespace

std::string completions(Shell shell, std::span<const std::string_view> calls) {
  switch (shell) {
    case Shell::bash:
      return bash(calls);
    case Shell::zsh:
      return zsh(calls);
    case Shell::fish:
      return fish(calls);
  }
  return {};
}

}  // namespace tracer::cli
