#include "explain/ranking.h"

#include <algorithm>

#include "explain/benign.h"
#include "explain/rule.h"
#include "format/error_names.h"

namespace tracer::explain {

namespace {

std::string error_text_of(std::string_view name) {
  constexpr int last_error = 133;
  for (int number = 1; number <= last_error; ++number) {
    if (format::error_name(number) == name) {
      return std::string(format::error_text(number));
    }
  }
  return {};
}

}  // namespace

Ranking::Ranking(const Process& process) : process_(process) {
  for (const Step& step : process.steps) {
    if (step.order < process.last_exec) {
      continue;
    }
    if (step.kind == Step::Kind::message) {
      messages_.push_back(&step);
    } else if (step.kind == Step::Kind::failure && benign_reason(process, step).empty()) {
      last_ = &step;
    }
  }
}

int Ranking::of(const Step& step) const {
  std::string after;
  std::uint64_t next = process_.calls;
  for (auto message = messages_.rbegin(); message != messages_.rend() && (*message)->order > step.order; ++message) {
    after.insert(0, (*message)->text);
    next = (*message)->number;
  }
  after = without_remarks(after);
  int score = 0;
  const std::string name = base_name(step.path);
  if (is_named(step.path, after)) {
    score += 40;
  } else if (name.size() > 2 && is_named(name, after)) {
    score += 35;
  }
  if (contains(after, error_text_of(step.call.error)) || is_named(step.call.error, after)) {
    score += is_last_before_message(step) ? 30 : 8;
  }
  const std::uint64_t distance = next > step.number ? next - step.number - 1 : 0;
  score += distance == 0 ? 20 : distance <= 2 ? 15 : distance <= 6 ? 10 : distance <= 20 ? 5 : 0;
  score += &step == last_ ? 10 : 0;
  const bool asks_only =
      is_listed(step.call.name, "access faccessat faccessat2 stat newfstatat lstat statx readlink readlinkat") ||
      contains(to_text(step.call.argument("flags").value), "O_PATH");
  score -= asks_only && is_listed(step.call.error, "ENOENT ENOTDIR") ? 10 : 0;
  score -= reports_other_error(step, after) ? 40 : 0;
  // A failure that is usually harmless counts if a message names its path.
  score -= is_named(step.path, after) || benign_reason(process_, step).empty() ? 0 : 45;
  return score;
}

/// True if the messages do not contain the text of this error, but that of another error for the same path.
bool Ranking::reports_other_error(const Step& step, const std::string& messages) const {
  return !step.path.empty() && !contains(messages, error_text_of(step.call.error)) &&
         std::any_of(process_.steps.begin(), process_.steps.end(), [&](const Step& other) {
           return other.kind == Step::Kind::failure && other.path == step.path && other.call.error != step.call.error &&
                  contains(messages, error_text_of(other.call.error));
         });
}

bool Ranking::is_last_before_message(const Step& step) const {
  const std::string text = error_text_of(step.call.error);
  const Step* message = nullptr;
  for (const Step* step_with_text : messages_) {
    if (step_with_text->order > step.order && contains(step_with_text->text, text)) {
      message = step_with_text;
      break;
    }
  }
  return std::none_of(process_.steps.begin(), process_.steps.end(), [&](const Step& other) {
    return other.kind == Step::Kind::failure && other.call.error == step.call.error && other.order > step.order &&
           (message == nullptr || other.order < message->order) && benign_reason(process_, other).empty();
  });
}

}  // namespace tracer::explain
