// Errors that no system call shows: what programs of some languages say as nobody catches them.
#include "explain/rules/rules.h"

namespace tracer::explain::rules {

namespace {

/// The last line that begins with `words`, without them.
std::string last_line_after(const std::string& text, std::string_view words) {
  std::size_t at = text.rfind(words);
  while (at != std::string::npos && at != 0 && text[at - 1] != '\n') {
    at = text.rfind(words, at - 1);
  }
  return at == std::string::npos ? std::string() : word_after(text.substr(at), words, "\n");
}

/// `panic: assignment to entry in nil map`, before what its goroutines do.
std::string of_go(const std::string& said) {
  const std::string panic = last_line_after(said, "panic: ");
  return panic.empty() ? last_line_after(said, "fatal error: ") : panic;
}

/// `thread 'main' panicked at src/main.rs:4:5:` and the message; before Rust 1.73, `panicked at 'message', place`.
std::string of_rust(const std::string& said) {
  std::string place = word_after(said, "panicked at ", "\n");
  if (place.empty() || place.back() != ':') {
    return place;
  }
  const std::string message = word_after(said, place + '\n', "\n");
  return message + " (" + place.substr(0, place.size() - 1) + ')';
}

/// `Exception in thread "main" kind: message`, and what had caused that, the first cause last.
std::string of_java(const std::string& said) {
  const std::string cause = last_line_after(said, "Caused by: ");
  const std::string line = last_line_after(said, "Exception in thread \"");
  const std::size_t quote = line.find("\" ");
  return !cause.empty() ? cause : quote == std::string::npos ? std::string() : line.substr(quote + 2);
}

/// The line above the stack.
std::string of_node(const std::string& said) {
  return last_line(said.substr(0, std::min(said.find("\n    at "), said.size())));
}

/// The line below the stack.
std::string of_python(const std::string& said) {
  return last_line(said);
}

std::string of_ocaml(const std::string& said) {
  return last_line_after(said, "Fatal error: exception ");
}

struct Language {
  std::string_view words;  ///< which tell that it is this one
  int status;              ///< of a program that ends so; one with another has caught it
  std::string (*message)(const std::string& said);
  std::string_view remedy;
};

constexpr Language languages[] = {
    {"\ngoroutine ", 2, of_go, "the stack below that message shows where, the newest function first"},
    {"panicked at ", 101, of_rust, "RUST_BACKTRACE=1 in the environment shows where"},
    {"Exception in thread \"", 1, of_java, "the stack below that message shows where, the newest function first"},
    {"\nNode.js v", 1, of_node, "the stack below that message shows where, the newest function first"},
    {"Traceback (most recent call last):", 1, of_python,
     "the stack above that message shows where, the newest call last"},
    {"Fatal error: exception ", 2, of_ocaml, "OCAMLRUNPARAM=b in the environment shows where"},
};

std::optional<Finding> uncaught(const Case& facts) {
  for (const Language& language : languages) {
    if (!contains(facts.said, language.words) || !facts.process.end || facts.process.end->by_signal ||
        facts.process.end->status != language.status) {
      continue;
    }
    if (const std::string message = language.message(facts.said); !message.empty()) {
      Finding finding;
      finding.cause = "an error that it does not catch ended it: " + message;
      finding.remedy = language.remedy;
      finding.tells_end = true;
      return finding;
    }
  }
  return std::nullopt;
}

constexpr Rule rules[] = {
    {"uncaught-error", 10, "", "",
     "\ngoroutine |panicked at |Exception in thread \"|\nNode.js v|Traceback (most recent call last):|"
     "Fatal error: exception ",
     "", uncaught},
};

}  // namespace

std::span<const Rule> exception_rules() {
  return rules;
}

}  // namespace tracer::explain::rules
