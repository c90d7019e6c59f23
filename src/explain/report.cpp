#include "explain/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text_buffer.h"
#include "explain/configuration_text.h"
#include "explain/text_search.h"
#include "format/json_text.h"

namespace tracer::explain {

namespace {

constexpr std::size_t label_width = 18;
constexpr std::size_t max_evidence = 6;

std::string seconds(Time time) {
  return fmt::format("{:.3f}", static_cast<double>(std::max<std::int64_t>(time.count(), 0)) / 1e9);
}

/// Returns the call of a step, for messages with the text that it writes.
std::string to_text(const Step& step) {
  return without_passwords(to_text(step.call, step.kind == Step::Kind::message));
}

/// Returns the evidence to show: the first and the last steps if there are many.
std::vector<const Step*> selected(const std::vector<const Step*>& evidence) {
  std::vector<const Step*> steps = evidence;
  if (steps.size() > max_evidence) {
    steps.erase(steps.begin() + max_evidence / 2, steps.end() - max_evidence / 2);
  }
  return steps;
}

class Text {
 public:
  explicit Text(bool colours) : colours_(colours) {}

  void line(std::string_view label, const std::string& text, std::string_view colour = {}) {
    std::size_t from = 0;
    bool first = true;
    while (first || from < text.size()) {
      const std::size_t end = std::min(text.find('\n', from), text.size());
      std::string head = "  " + std::string(first ? label : "");
      head.resize(std::max(label_width, head.size() + 1), ' ');
      out_ += head + paint(text.substr(from, end - from), colour) + '\n';
      from = end + 1;
      first = false;
    }
  }
  void plain(const std::string& text, std::string_view colour = {}) { out_ += paint(text, colour) + '\n'; }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  [[nodiscard]] std::string paint(const std::string& text, std::string_view colour) const {
    return colours_ && !colour.empty() && !text.empty() ? "\33[" + std::string(colour) + "m" + text + "\33[0m" : text;
  }

  bool colours_;
  std::string out_;
};

constexpr std::string_view bold = "1";
constexpr std::string_view red = "1;31";
constexpr std::string_view green = "32";
constexpr std::string_view dim = "2";

/// Returns the step that shows the cause: the last failed call; nullptr if the program's words alone do.
const Step* decisive_step(const Answer& answer) {
  const auto at = std::find_if(answer.evidence.rbegin(), answer.evidence.rend(),
                               [](const Step* step) { return step->kind != Step::Kind::message; });
  return at == answer.evidence.rend() ? nullptr : *at;
}

/// True for a line of a file, or the caret below it.
bool is_excerpt(const std::string& fact) {
  const std::size_t bar = fact.find(" | ");
  return bar != std::string::npos && fact.find_first_not_of(" 0123456789") == bar + 1;
}

void write_briefly(Text& text, const Explanation& explanation, const Answer& answer, bool is_first) {
  if (!is_first) {
    text.line("or", answer.cause + " (" + answer.confidence + ")", bold);
    return;
  }
  text.line(answer.confidence, answer.cause, red);
  for (const std::string& fact : answer.looked_at) {
    if (is_excerpt(fact)) {
      text.line("", fact);
    }
  }
  if (const Step* step = decisive_step(answer); step != nullptr) {
    text.line("evidence", fmt::format("{}    ({} s, pid {})", to_text(*step), seconds(step->time - explanation.started),
                                      answer.pid != 0 ? answer.pid : explanation.process->pid));
  }
  if (!answer.remedy.empty()) {
    text.line("remedy", answer.remedy, green);
  }
}

void write_answer(Text& text, const Explanation& explanation, const Answer& answer, bool is_first) {
  if (is_first) {
    text.line(answer.confidence, answer.cause, red);
  } else {
    text.line("or", answer.cause + " (" + answer.confidence + ")", bold);
  }
  std::string evidence;
  for (const Step* step : selected(answer.evidence)) {
    evidence +=
        fmt::format("{}{}    ({} s, pid {})", evidence.empty() ? "" : "\n", to_text(*step),
                    seconds(step->time - explanation.started), answer.pid != 0 ? answer.pid : explanation.process->pid);
  }
  if (!evidence.empty()) {
    text.line("evidence", evidence);
  }
  if (!answer.looked_at.empty()) {
    text.line("looked at", join(answer.looked_at, "\n"), dim);
  }
  if (!answer.remedy.empty()) {
    text.line("remedy", answer.remedy, green);
  }
}

// ---------------------------------------------------------------------------------------------- JSON

class Json {
 public:
  void member(std::string_view name) {
    separate();
    format::append_json_string(out_, name);
    out_.append(':');
    fresh_ = true;
  }
  void string(std::string_view text) {
    separate();
    format::append_json_string(out_, text);
  }
  void number(std::int64_t value) {
    separate();
    format::append_json_integer(out_, value);
  }
  void open(char bracket) {
    separate();
    out_.append(bracket);
    fresh_ = true;
  }
  void close(char bracket) {
    out_.append(bracket);
    fresh_ = false;
  }
  void strings(std::string_view name, const std::vector<std::string>& list) {
    member(name);
    open('[');
    for (const std::string& one : list) {
      string(one);
    }
    close(']');
  }
  [[nodiscard]] std::string take() { return std::string(out_.view()) + '\n'; }

 private:
  void separate() {
    if (!fresh_) {
      out_.append(',');
    }
    fresh_ = false;
  }

  TextBuffer out_;
  bool fresh_ = true;
};

std::string_view name_of(Explanation::Outcome outcome) {
  constexpr std::array<std::string_view, 4> names = {"good", "failed", "running", "nothing"};
  return names[static_cast<std::size_t>(outcome)];
}

}  // namespace

std::string report_text(const Explanation& explanation, bool colours, bool verbose) {
  Text text(colours);
  text.plain(explanation.headline, bold);
  for (const std::string& link : explanation.chain) {
    text.plain("  " + link);
  }
  text.plain("");
  bool is_first = true;
  for (const Answer& answer : explanation.answers) {
    if (verbose) {
      write_answer(text, explanation, answer, is_first);
    } else {
      write_briefly(text, explanation, answer, is_first);
    }
    is_first = false;
  }
  if (explanation.outcome == Explanation::Outcome::failed && explanation.answers.empty()) {
    text.line("no cause found", "no system call that failed explains it: " +
                                    (explanation.uncaught.empty() ? "the program itself decided to end so"
                                                                  : "nothing caught its " + explanation.uncaught));
  }
  if (!explanation.verdict.empty()) {
    text.line("verdict", explanation.verdict, red);
  }
  constexpr std::size_t max_waits = 6;
  const std::size_t shown = verbose || explanation.waiting.size() <= max_waits ? explanation.waiting.size() : max_waits;
  for (std::size_t i = 0; i < shown; ++i) {
    text.line("waits", explanation.waiting[i]);
  }
  if (shown < explanation.waiting.size()) {
    text.line("more", fmt::format("--explain=verbose shows {} more that wait", explanation.waiting.size() - shown),
              dim);
  }
  // What it wrote to the terminal stands right above; what a recorded run wrote does not.
  if (!explanation.last_words.empty() && (verbose || !explanation.not_looked_at.empty())) {
    text.line("its last words", explanation.last_words);
  }
  if (!explanation.not_looked_at.empty()) {
    text.line("not looked at", join(explanation.not_looked_at, "\n"), dim);
  }
  if (!explanation.ruled_out.empty() && verbose) {
    text.line("ruled out", join(explanation.ruled_out, "\n"), dim);
  } else if (explanation.outcome == Explanation::Outcome::failed && !verbose) {
    text.line("more", "--explain=verbose", dim);
  }
  return text.take();
}

std::string report_json(const Explanation& explanation) {
  Json json;
  json.open('{');
  json.member("v");
  json.number(1);
  json.member("type");
  json.string("explanation");
  json.member("outcome");
  json.string(name_of(explanation.outcome));
  json.member("headline");
  json.string(explanation.headline);
  if (explanation.process != nullptr) {
    json.member("pid");
    json.number(explanation.process->pid);
    json.member("program");
    json.string(explanation.process->executable());
  }
  json.strings("chain", explanation.chain);
  json.member("answers");
  json.open('[');
  for (const Answer& answer : explanation.answers) {
    json.open('{');
    json.member("rule");
    json.string(answer.rule);
    json.member("confidence");
    json.string(answer.confidence);
    json.member("cause");
    json.string(answer.cause);
    json.member("evidence");
    json.open('[');
    for (const Step* step : selected(answer.evidence)) {
      json.open('{');
      json.member("ts");
      json.string(std::to_string(step->time.count()));
      json.member("tid");
      json.number(step->tid);
      json.member("call");
      json.string(to_text(*step));
      json.close('}');
    }
    json.close(']');
    json.strings("looked_at", answer.looked_at);
    json.member("remedy");
    json.string(answer.remedy);
    json.close('}');
  }
  json.close(']');
  json.member("uncaught");
  json.string(explanation.uncaught);
  json.member("verdict");
  json.string(explanation.verdict);
  json.strings("waiting", explanation.waiting);
  json.member("last_words");
  json.string(explanation.last_words);
  json.strings("ruled_out", explanation.ruled_out);
  json.strings("not_looked_at", explanation.not_looked_at);
  json.close('}');
  return json.take();
}

}  // namespace tracer::explain
