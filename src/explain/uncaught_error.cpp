#include "explain/uncaught_error.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "explain/text_search.h"

namespace tracer::explain {

namespace {

struct Uncaught {
  std::string kind;   ///< empty: no such error
  std::string place;  ///< "app.py, line 12"; empty: unknown
};

/// Returns the rest of the last line that starts with `words`.
std::string last_line_after(const std::string& text, std::string_view words) {
  std::size_t at = text.rfind(words);
  while (at != std::string::npos && at != 0 && text[at - 1] != '\n') {
    at = text.rfind(words, at - 1);
  }
  return at == std::string::npos ? std::string() : word_after(text.substr(at), words, "\n");
}

/// Returns the name of the exception that a line begins with: `urllib.error.HTTPError` of `urllib.error.HTTPError: …`.
std::string kind_at_start(const std::string& line) {
  const auto is_of_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '$'; };
  const auto end = std::find_if_not(line.begin(), line.end(), is_of_name);
  return end == line.end() || *end == ':' || *end == ' ' || *end == '(' ? std::string(line.begin(), end)
                                                                        : std::string();
}

/// Returns "x.js, line 3" of `x.js:3` and of `x.js:3:7`.
std::string place_with_line(std::string text) {
  const auto ends_with_number = [&](std::size_t colon) {
    return colon != std::string::npos && colon + 1 < text.size() &&
           std::all_of(text.begin() + static_cast<std::ptrdiff_t>(colon) + 1, text.end(),
                       [](unsigned char c) { return std::isdigit(c) != 0; });
  };
  std::size_t colon = text.rfind(':');
  if (!ends_with_number(colon)) {
    return {};
  }
  const std::string last = text.substr(colon + 1);
  text.resize(colon);
  colon = text.rfind(':');
  if (!ends_with_number(colon)) {
    return text + ", line " + last;
  }
  return text.substr(0, colon) + ", line " + text.substr(colon + 1);
}

/// Returns what follows `mark` in the first line that has it and none of the words of a runtime's own frames.
std::string first_frame(const std::string& messages, std::string_view mark, std::string_view own,
                        std::string_view end) {
  for (std::size_t at = messages.find(mark); at != std::string::npos; at = messages.find(mark, at + 1)) {
    const std::string frame = first_line(messages.substr(at + mark.size()));
    if (!contains(frame, own)) {
      return frame.substr(0, frame.find_first_of(end));
    }
  }
  return {};
}

Uncaught of_go(const std::string& messages) {
  const std::string panic = last_line_after(messages, "panic: ");
  const std::string fatal = last_line_after(messages, "fatal error: ");
  const std::string place = place_with_line(first_frame(messages, "\n\t", "/src/runtime/", " "));
  return {!panic.empty() ? "panic" : !fatal.empty() ? "fatal error" : "", place};
}

/// `thread 'main' panicked at src/main.rs:4:5:`; before Rust 1.73, `panicked at 'message', place`.
Uncaught of_rust(const std::string& messages) {
  std::string place = word_after(messages, "panicked at ", "\n");
  if (place.starts_with('\'')) {
    place.erase(0, place.rfind("', ") == std::string::npos ? place.size() : place.rfind("', ") + 3);
  }
  while (place.ends_with(':')) {
    place.pop_back();
  }
  return {"panic", place_with_line(place)};
}

/// The last `Caused by: ` line is the root cause.
Uncaught of_java(const std::string& messages) {
  const std::string cause = last_line_after(messages, "Caused by: ");
  const std::string line = word_after(messages, "Exception in thread \"", "\n");
  const std::size_t quote = line.find("\" ");
  const std::string text = !cause.empty() ? cause : quote == std::string::npos ? std::string() : line.substr(quote + 2);
  const std::size_t from = cause.empty() ? 0 : messages.rfind(cause);
  const std::string frame = first_frame(messages.substr(from), "\tat ", "java.base/", ")");
  const std::size_t bracket = frame.find('(');
  return {kind_at_start(text),
          bracket == std::string::npos ? std::string() : place_with_line(frame.substr(bracket + 1))};
}

/// The line above the stack, whose message may have several lines.
Uncaught of_node(const std::string& messages) {
  const std::string text = messages.substr(0, std::min(messages.find("\n    at "), messages.size()));
  std::string line = last_line(text);
  for (const std::string_view word : {"Error: ", "Error [", "Exception: "}) {
    const std::size_t at = text.rfind(word);
    const std::size_t start = at == std::string::npos ? at : text.rfind('\n', at) + 1;  // npos + 1 is 0
    if (at != std::string::npos && text.find(' ', start) >= at) {
      line = first_line(text.substr(start));
      break;
    }
  }
  std::string frame = first_frame(messages, "\n    at ", "node:", ")");
  frame.erase(0, frame.find('(') == std::string::npos ? 0 : frame.find('(') + 1);
  const std::string place = place_with_line(frame);
  return {kind_at_start(line), place.empty() ? place_with_line(first_line(messages)) : place};
}

/// The line below the last stack: `NameError: …`. A test runner, which caught the exception, writes other words below
/// it.
Uncaught of_python(const std::string& messages) {
  const std::string line = last_line(messages);
  const std::string kind = kind_at_start(line);
  const bool names_exception = !kind.empty() && (kind.size() == line.size() || line[kind.size()] == ':');
  const std::string frame = last_line_after(messages, "  File \"");
  const std::size_t quote = frame.find("\", line ");
  std::string place;
  if (quote != std::string::npos) {
    const std::string number = word_after(frame, "\", line ", ",");
    place = frame.substr(0, quote) + ", line " + number;
  }
  const bool has_words_of_its_own = contains(messages, "\nDuring handling of");
  return {names_exception ? kind : has_words_of_its_own ? "exception" : "", place};
}

/// `x.rb:1:in \`<main>': message (RuntimeError)`
Uncaught of_ruby(const std::string& messages) {
  const std::string line = line_with(messages, ":in `");
  const std::string message = word_after(line, "': ", "\n");
  const std::size_t bracket = message.rfind('(');
  const std::size_t end = bracket == std::string::npos ? bracket : message.find(')', bracket);
  const std::string kind = end == std::string::npos ? "exception" : message.substr(bracket + 1, end - bracket - 1);
  return {message.empty() ? "" : kind, place_with_line(line.substr(0, line.find(":in `")))};
}

Uncaught of_php(const std::string& messages) {
  std::string place = word_after(messages, "  thrown in ", "\n");
  if (const std::size_t on = place.rfind(" on line "); on != std::string::npos) {
    place.replace(on, 4, ",");
  }
  return {kind_at_start(word_after(messages, "Uncaught ", "\n")), place};
}

Uncaught of_ocaml(const std::string& messages) {
  return {kind_at_start(last_line_after(messages, "Fatal error: exception ")), {}};
}

struct Language {
  std::string_view words;  ///< text that identifies the language
  int status;              ///< exit status of an uncaught error; another status means that the program caught it
  Uncaught (*error)(const std::string& messages);
};

constexpr std::array<Language, 8> languages = {{
    {"\ngoroutine ", 2, of_go},
    {"panicked at ", 101, of_rust},
    {"Exception in thread \"", 1, of_java},
    {"\nNode.js v", 1, of_node},
    {"Traceback (most recent call last):", 1, of_python},
    {":in `", 1, of_ruby},
    {"Fatal error:  Uncaught ", 255, of_php},
    {"Fatal error: exception ", 2, of_ocaml},
}};

/// Returns where the tracebacks of Python start that are about the last error.
std::size_t start_of_traceback(const std::string& messages) {
  constexpr std::string_view mark = "Traceback (most recent call last):";
  const auto is_of_chain = [&](std::size_t at) {
    const std::string_view before = std::string_view(messages).substr(0, at);
    return before.ends_with("another exception occurred:\n\n") ||
           before.ends_with("direct cause of the following exception:\n\n");
  };
  std::size_t at = messages.rfind(mark);
  while (at != std::string::npos && at != 0 && is_of_chain(at)) {
    at = messages.rfind(mark, at - 1);
  }
  return at;
}

}  // namespace

std::string words_of_uncaught(const std::string& messages) {
  const std::size_t python = start_of_traceback(messages);
  const std::size_t at = python != std::string::npos ? python : messages.rfind("Exception in thread \"");
  return at == std::string::npos ? messages : messages.substr(at);
}

std::string uncaught_error(const Process& process) {
  const std::string messages = process.messages();
  for (const Language& language : languages) {
    if (!contains(messages, language.words) || !process.exit || process.exit->by_signal ||
        process.exit->status != language.status) {
      continue;
    }
    if (const Uncaught error = language.error(messages); !error.kind.empty()) {
      constexpr std::size_t max_place = 200;
      return escape_unprintable(error.kind +
                                (error.place.empty() || error.place.size() > max_place ? "" : " at " + error.place));
    }
  }
  return {};
}

}  // namespace tracer::explain
