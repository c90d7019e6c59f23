// Uncaught exceptions and panics, recognized by the messages of language runtimes.
#include <algorithm>
#include <cctype>

#include "explain/rules/rules.h"

namespace tracer::explain::rules {

namespace {

/// Returns the rest of the last line that starts with `words`.
std::string last_line_after(const std::string& text, std::string_view words) {
  std::size_t at = text.rfind(words);
  while (at != std::string::npos && at != 0 && text[at - 1] != '\n') {
    at = text.rfind(words, at - 1);
  }
  return at == std::string::npos ? std::string() : word_after(text.substr(at), words, "\n");
}

/// Returns the message after `panic: `, which precedes the stacks of the goroutines.
std::string of_go(const std::string& messages) {
  const std::string panic = last_line_after(messages, "panic: ");
  return panic.empty() ? last_line_after(messages, "fatal error: ") : panic;
}

/// Returns the message after `thread 'main' panicked at src/main.rs:4:5:`; before Rust 1.73, of `panicked at 'message',
/// place`.
std::string of_rust(const std::string& messages) {
  std::string place = word_after(messages, "panicked at ", "\n");
  if (place.empty() || place.back() != ':') {
    return place;
  }
  const std::string message = word_after(messages, place + '\n', "\n");
  return message + " (" + place.substr(0, place.size() - 1) + ')';
}

/// Returns the last `Caused by: ` line, which is the root cause; else the text of `Exception in thread "main" …`.
std::string of_java(const std::string& messages) {
  const std::string cause = last_line_after(messages, "Caused by: ");
  const std::string line = last_line_after(messages, "Exception in thread \"");
  const std::size_t quote = line.find("\" ");
  return !cause.empty() ? cause : quote == std::string::npos ? std::string() : line.substr(quote + 2);
}

/// Returns the line above the stack.
std::string of_node(const std::string& messages) {
  const std::string text = messages.substr(0, std::min(messages.find("\n    at "), messages.size()));
  for (const std::string_view kind : {"Error: ", "Error [", "Exception: "}) {  // the message may have several lines
    const std::size_t at = text.rfind(kind);
    const std::size_t start = at == std::string::npos ? at : text.rfind('\n', at) + 1;  // npos + 1 is 0
    if (at != std::string::npos && text.find(' ', start) >= at) {
      return first_line(text.substr(start));
    }
  }
  return last_line(text);
}

/// Returns the line below the last stack: `NameError: …`, `urllib.error.HTTPError: …`. A test runner, which caught the
/// exception, writes other words below it.
std::string of_python(const std::string& messages) {
  const std::string line = last_line(messages);
  const auto is_of_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; };
  const auto end = std::find_if_not(line.begin(), line.end(), is_of_name);
  const bool names_exception = end != line.begin() && (end == line.end() || *end == ':');
  return names_exception || contains(messages, "\nDuring handling of") ? line : std::string();
}

/// Returns the message of `x.rb:1:in \`<main>': message (RuntimeError)`.
std::string of_ruby(const std::string& messages) {
  const std::string line = line_with(messages, ":in `");
  return word_after(line, "': ", "\n");
}

std::string of_php(const std::string& messages) {
  return word_after(messages, "Uncaught ", "\n");
}

std::string of_ocaml(const std::string& messages) {
  return last_line_after(messages, "Fatal error: exception ");
}

struct Language {
  std::string_view words;  ///< text that identifies the language
  int status;              ///< exit status of an uncaught error; another status means that the program caught it
  std::string (*message)(const std::string& messages);
  std::string_view remedy;
};

constexpr Language languages[] = {
    {"\ngoroutine ", 2, of_go, "the stack below that message shows where, the newest function first"},
    {"panicked at ", 101, of_rust, "RUST_BACKTRACE=1 in the environment shows where"},
    {"Exception in thread \"", 1, of_java, "the stack below that message shows where, the newest function first"},
    {"\nNode.js v", 1, of_node, "the stack below that message shows where, the newest function first"},
    {"Traceback (most recent call last):", 1, of_python,
     "the stack above that message shows where, the newest call last"},
    {":in `", 1, of_ruby, "the stack below that message shows where, the newest call first"},
    {"Fatal error:  Uncaught ", 255, of_php, "the stack below that message shows where"},
    {"Fatal error: exception ", 2, of_ocaml, "OCAMLRUNPARAM=b in the environment shows where"},
};

std::optional<Finding> uncaught(const Case& facts) {
  for (const Language& language : languages) {
    if (!contains(facts.messages, language.words) || !facts.process.exit || facts.process.exit->by_signal ||
        facts.process.exit->status != language.status) {
      continue;
    }
    if (const std::string message = language.message(facts.messages); !message.empty()) {
      Finding finding;
      finding.cause = "an error that it does not catch ended it: " + message;
      finding.remedy = language.remedy;
      finding.describes_exit = true;
      return finding;
    }
  }
  return std::nullopt;
}

/// A program's own module that has the name of one of Python's standard library is found first.
std::optional<Finding> shadowing_module(const Case& facts) {
  const std::string line = last_line(facts.messages);
  std::string name = word_after(line, "' from '", "'");
  name = name.empty() ? word_after(line, "module '", "'") : name;
  const auto& opened = facts.process.opened;
  constexpr std::string_view libraries = "/lib/python";
  std::string own;
  std::string library;
  for (const Opened& one : opened) {
    const std::size_t at = one.path.find(libraries);
    const std::size_t end = at == std::string::npos ? at : one.path.find('/', at + libraries.size());
    if (end != std::string::npos) {
      library = one.path.substr(0, end);
    } else if (base_name(one.path).starts_with(name + '.') && contains(one.path, ".py")) {
      own = one.path;
    }
  }
  const bool is_hidden =
      !name.empty() && !own.empty() && !library.empty() &&
      (facts.prober.exists(library + '/' + name + ".py") || facts.prober.exists(library + '/' + name));
  if (!is_hidden) {
    return std::nullopt;
  }
  if (const std::size_t cache = own.find("/__pycache__/"); cache != std::string::npos) {
    own = own.substr(0, cache + 1) + name + ".py";
  }
  Finding finding;
  finding.cause = "the program's own " + own + " hides the module " + printable(name) + " of Python's standard library";
  finding.looked_at.push_back(library + " has the module " + printable(name));
  finding.remedy = "give " + own + " another name";
  return finding;
}

constexpr Rule rules[] = {
    {"hidden-module", 60, "", "", "cannot import name|has no attribute|partially initialized", "", shadowing_module},
    {"uncaught-error", 10, "", "",
     "\ngoroutine |panicked at |Exception in thread \"|\nNode.js v|Traceback (most recent call last):|"
     "Fatal error: exception |:in `|Fatal error:  Uncaught ",
     "", uncaught},
};

}  // namespace

std::span<const Rule> exception_rules() {
  return rules;
}

}  // namespace tracer::explain::rules
