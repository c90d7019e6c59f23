#include "explain/ranking.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/directory.h"
#include "explain/benign.h"
#include "explain/rule.h"
#include "explain/shell_script.h"
#include "explain/socket_address.h"
#include "explain/uncaught_error.h"
#include "format/error_names.h"

namespace tracer::explain {

namespace {

constexpr std::string_view lookup_errors = "ENOENT ENOTDIR ELOOP ENXIO";
constexpr std::string_view lookups =
    "open openat openat2 access faccessat faccessat2 stat lstat newfstatat fstatat64 stat64 lstat64 statx readlink "
    "readlinkat chdir statfs unlink unlinkat rmdir rename renameat renameat2 inotify_add_watch mkdir mkdirat chmod "
    "fchmodat chown lchown fchownat utimensat getxattr lgetxattr listxattr llistxattr truncate symlink symlinkat link "
    "linkat";
constexpr std::string_view removals = "unlink unlinkat rmdir";
constexpr std::string_view lock_calls = "flock fcntl fcntl64";
// Programs ask for what they can do without, too.
constexpr std::string_view requests =
    "prlimit64 setrlimit setpriority sched_setscheduler sched_setattr mlock mlock2 mlockall bpf perf_event_open "
    "io_uring_setup userfaultfd capset setgroups";
constexpr std::uint64_t right_after = 2;  // traced calls between a failure and what it led to

/// The command line without the program's name.
std::span<const std::string> arguments(const Process& process) {
  const auto words = process.words();
  return words.subspan(words.empty() ? 0 : 1);
}

/// True if the command line names the path: what a program was given is seldom optional. `is_path`: in a word that can
/// be nothing else, as it has a slash.
bool is_given(const Process& process, const std::string& path, bool is_path = false) {
  if (path.size() < 2) {
    return false;
  }
  const auto words = arguments(process);
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    if (is_path && !contains(word, "/")) {
      return false;
    }
    word.remove_prefix(word.starts_with("./") ? 2 : 0);
    return word == path || word.ends_with('=' + path) ||
           (word.size() > 2 && process.working_directory + '/' + std::string(word) == path);
  });
}

/// True if an option names the path, as in `-f FILE` and `--file=FILE`.
bool is_given_to_option(const Process& process, const std::string& path) {
  const auto words = process.words();
  const std::string name = base_name(path);
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i - 1].starts_with('-') && base_name(words[i]) == name && is_given(process, path)) {
      return true;
    }
  }
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return word.starts_with('-') && word.ends_with('=' + path); });
}

/// True if the command line names the host and the port.
bool is_given(const Process& process, const Peer& peer) {
  if (peer.port == 0) {
    return false;
  }
  const auto words = arguments(process);
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    const bool is_script = word.find_first_of(" ;('\"") != std::string::npos;
    return !is_script && is_named(peer.name(), word);
  });
}

/// True if the call only asks about a file.
bool is_question(const Call& call) {
  return is_listed(call.name, "access faccessat faccessat2 stat newfstatat lstat statx readlink readlinkat") ||
         contains(to_text(call.argument("flags").value), "O_PATH");
}

/// Returns the path of the call as the program gave it.
std::string given_path(const Call& call) {
  const auto at =
      std::find_if(call.args.begin(), call.args.end(), [](const Argument& one) { return one.type == "path"; });
  return at == call.args.end() ? std::string() : at->value.text;
}

/// True if the words report another error below the line that names the path.
bool reports_something_later(const std::string& path, const std::string& words) {
  const std::string line = line_with(words, base_name(path));
  const std::size_t end = words.find(line) + line.size();
  const std::string rest = lines_where(words.substr(std::min(end, words.size())), [](std::string_view one) {
    return !one.starts_with("    at ");  // a frame of a stack
  });
  return !line.empty() && reports_error(rest) && !contains(rest, base_name(path));
}

/// True if the words report that something could not be found or read, though they do not name it.
bool reports_lookup(const std::string& words) {
  constexpr std::array<std::string_view, 25> parts = {
      "open",   "read",    "load",    "find",    "found", "access", "issing", "exist", "onfig",
      " file",  "irector", "uch ",    "mport",   "ocat",  "etch",   "onnect", "tart",  "nitial",
      "ibrary", " module", "atabase", "ertific", "key",   "path",   "rite"};
  return reports_inability(words) &&
         std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return contains(words, part); });
}

/// Returns the lines that name the path, each with the one above it.
std::string lines_about(const std::string& path, const std::string& words) {
  std::string above;
  std::string found;
  lines_where(words, [&](std::string_view line) {
    found += Ranking::is_mentioned(path, std::string(line)) ? above + std::string(line) : std::string();
    above = line;
    return false;
  });
  return found.empty() ? words : found;
}

/// True if the text is about the arguments that the program was given.
bool is_about_arguments(const std::string& text) {
  constexpr std::array<std::string_view, 4> words = {"ption", "rgument", "sage:", "USAGE"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return contains(text, word); });
}

/// Returns the number of ENOENT and the like; 0 if there is none of that name.
int error_number(std::string_view name) {
  constexpr int last_error = 133;
  for (int number = 1; number <= last_error; ++number) {
    if (format::error_name(number) == name) {
      return number;
    }
  }
  return 0;
}

// How programs write the number of an error.
constexpr std::array<std::string_view, 6> error_marks = {
    "errno=", "errno ", "errno: ", "Errno ", "error code ", "errno = "};

/// Returns the text without the lines that list options, `[--remote-path PATH]`.
std::string without_usage(const std::string& text) {
  return lines_where(text, [](std::string_view line) { return !contains(line, "[-"); });
}

/// True if the process ended with the number of the error as its status, as Perl's die() does. Lower numbers are
/// common for other reasons.
bool is_its_status(const Process& process, const Step& step) {
  constexpr int lowest = 11;
  return process.exit && !process.exit->by_signal && process.exit->status >= lowest &&
         process.exit->status == error_number(step.call.error);
}

/// True if the text speaks of another process that has what the program wants.
bool reports_another(const std::string& text) {
  constexpr std::array<std::string_view, 6> words = {"lock", "Lock", "already", "running", "in use", "busy"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return contains(text, word); });
}

/// True if the first thing that the process opened after the step is what Python, since 3.13, loads only to print an
/// uncaught error.
bool begins_traceback(const Process& process, const Step& step) {
  const auto next = std::find_if(process.opened.begin(), process.opened.end(),
                                 [&](const Opened& one) { return one.order > step.order; });
  return next != process.opened.end() && base_name(next->path).starts_with("traceback.");
}

}  // namespace

std::string error_text_of(std::string_view name) {
  const int number = error_number(name);
  return number == 0 ? std::string() : std::string(format::error_text(number));
}

bool says_error(std::string_view name, const std::string& words) {
  if (contains(words, error_text_of(name)) || is_named(name, words)) {
    return true;
  }
  const int number = error_number(name);
  return number > 0 && std::any_of(error_marks.begin(), error_marks.end(), [&](std::string_view mark) {
           return is_named(std::string(mark) + std::to_string(number), words);
         });
}

Ranking::Ranking(const Process& process, const Prober& prober)
    : process_(process), prober_(prober), is_uncaught_(!uncaught_error(process).empty()) {
  for (const Step& step : process.steps) {
    if (step.order < process.last_exec) {
      continue;
    }
    if (step.kind == Step::Kind::message || step.kind == Step::Kind::output) {
      // Some programs report an error on standard output, and add to it on standard error.
      if (process.is_complaint(step) || step.kind == Step::Kind::output) {
        messages_.push_back(&step);
      }
      has_spoken_ = true;
    } else if (step.kind == Step::Kind::failure && benign_reason(process, step).empty()) {
      last_ = &step;
    }
  }
}

Ranking::Aftermath Ranking::aftermath(const Step& step) const {
  Aftermath result;
  std::uint64_t next = process_.calls;
  for (auto message = messages_.rbegin(); message != messages_.rend() && (*message)->order > step.order; ++message) {
    result.words.insert(0, (*message)->text);
    next = (*message)->number;
    result.is_cut = result.is_cut || (*message)->call.argument("buf").value.cut;
  }
  if (next > step.number && !(is_uncaught_ && begins_traceback(process_, step))) {
    result.distance = next - step.number - 1;
  }
  if (result.words.empty() && process_.last_output.order >= step.order) {
    result.words = process_.last_output.text;  // many programs report errors to standard output
  }
  result.is_silent = result.words.empty() && process_.last_output.order < step.order;
  if (const std::string last = words_of_uncaught(result.words); is_uncaught_ && !reports_inability(last)) {
    result.words = last;  // it went on after what it had reported before
  }
  const std::string all = std::exchange(result.words, without_remarks(without_quoted_source(result.words)));
  // Some programs call it a warning that they lack what they cannot do without.
  const std::string line = line_with(all, error_text_of(step.call.error));
  if (result.words.find_first_not_of(" \n") == std::string::npos && is_mentioned(step.path, line)) {
    result.words = line;
  }
  return result;
}

bool Ranking::is_lookup_without_words(const Step& step) const {
  const bool is_lookup = is_listed(step.call.error, lookup_errors) && is_listed(step.call.name, lookups);
  const bool is_lock =
      is_listed(step.call.error, "EAGAIN EWOULDBLOCK EINTR ERESTARTSYS") && is_listed(step.call.name, lock_calls);
  const bool is_removal = is_listed(step.call.name, removals) && is_listed(step.call.error, "EISDIR ENOTEMPTY");
  const bool is_request = is_listed(step.call.error, "EPERM EACCES") && is_listed(step.call.name, requests);
  const bool is_connect = is_listed(step.call.name, "connect getsockopt") &&
                          is_listed(step.call.error, "ECONNREFUSED EHOSTUNREACH ENETUNREACH ENOENT");
  if (is_connect) {
    return is_connect_without_words(step);
  }
  const bool asks_for_process =
      is_listed(step.call.name, "kill") && to_text(step.call.argument("signum").value) == "0";  // is there a process?
  if (!is_lookup && !is_lock && !is_removal && !is_request && !asks_for_process) {
    return false;
  }
  const Aftermath after = aftermath(step);
  if (after.is_silent) {
    // What it said before, or what a server answered, explains the end as well; and what is to be removed need not
    // exist.
    const bool removes = is_listed(step.call.name, removals);
    const bool has_answered = is_question(step.call) && !process_.last_output.text.empty();
    const bool is_tolerated =
        is_question(step.call) && script_goes_on_without(process_, prober_, given_path(step.call));
    return is_tolerated || (after.distance > right_after && !is_given(process_, step.path)) || removes || has_spoken_ ||
           has_answered || has_connected_before(step);
  }
  if ((is_lock && reports_another(after.words)) || (is_request && contains(after.words, "limit"))) {
    return false;
  }
  if (is_lookup && is_listed(step.call.name, removals) && reports_something_later(step.path, after.words)) {
    return true;
  }
  const bool is_error_said =
      says_error(step.call.error, after.words) || (&step == last_ && is_its_status(process_, step));
  const bool is_name_said = says_name(step, after.words);
  if (is_lookup && !is_name_said && names_another(step, after.words)) {
    return true;
  }
  if (is_name_said || (is_error_said && is_last_before_message(step))) {
    const bool is_given_path = is_lookup && is_name_said && is_given(process_, step.path, true);
    // "cache" may be any word of a sentence, "cache.db" is the name of a file.
    const bool is_word = is_lookup && !contains(base_name(step.path), ".") && !is_named(step.path, after.words);
    const std::string about = is_word ? lines_about(step.path, after.words) : after.words;
    return !is_error_said && !after.is_cut && !is_given_path && !reports_inability(about);
  }
  if (is_lookup && is_given_to_option(process_, step.path) && reports_inability(after.words)) {
    return false;
  }
  // Nobody opens a file for output that he can do without.
  const bool is_output = contains(to_text(step.call.argument("flags").value), "O_CREAT");
  return (after.distance != 0 && !is_output) || &step != last_ || is_about_arguments(after.words) ||
         is_question(step.call) || !(after.is_cut || reports_lookup(after.words));
}

/// Programs that can do without a server say nothing of it.
bool Ranking::is_connect_without_words(const Step& step) const {
  constexpr std::array<std::string_view, 19> words = {
      "onnect", "erver", "efused",  "nreach", "ocket",  "etwork", "esponse", "isplay", "roxy",  "gent",
      "aemon",  "etch",  "ownload", "http",   "ontact", "ccess",  "emote",   "ervice", "unning"};
  const std::string said = aftermath(step).words;
  const std::string reports = without_usage(said);
  return !said.empty() && !is_given(process_, peer_of_step(process_, step)) && !is_its_status(process_, step) &&
         !says_error(step.call.error, said) && !is_mentioned(step.path, said) &&
         std::none_of(words.begin(), words.end(), [&](std::string_view word) { return contains(reports, word); });
}

bool Ranking::says_name(const Step& step, const std::string& words) const {
  if (is_mentioned(step.path, words) || is_mentioned(step.new_path, words)) {
    return true;
  }
  constexpr std::size_t fewest_slashes = 2;  // a directory below the root may be any word
  for (std::string above = directory_of(step.path);
       static_cast<std::size_t>(std::count(above.begin(), above.end(), '/')) >= fewest_slashes;
       above = directory_of(above)) {
    if (is_named(above, words)) {
      return !prober_.exists(above);
    }
  }
  return false;
}

bool Ranking::has_connected_before(const Step& step) const {
  return std::any_of(process_.steps.begin(), process_.steps.end(), [&](const Step& other) {
    const Value& family = other.call.argument("addr").value["sa_family"];
    return other.order < step.order && other.order >= process_.last_exec && other.call.name == "connect" &&
           (other.kind == Step::Kind::other || other.call.error == "EINPROGRESS") &&
           to_text(family).starts_with("AF_INET");
  });
}

bool Ranking::names_another(const Step& step, const std::string& words) const {
  return std::any_of(process_.steps.begin(), process_.steps.end(), [&](const Step& other) {
    return other.kind == Step::Kind::failure && other.order >= process_.last_exec && other.path != step.path &&
           other.call.error == step.call.error && is_listed(other.call.name, lookups) &&
           is_mentioned(other.path, words);
  });
}

bool Ranking::is_mentioned(const std::string& path, const std::string& words) {
  const std::string name = base_name(path);
  constexpr std::string_view lock = ".lock";
  if (name.size() > lock.size() && name.ends_with(lock) && contains(words, "lock")) {
    return is_mentioned(path.substr(0, path.size() - lock.size()), words);  // they name what is to be locked
  }
  if (name.size() > 2 || name.empty()) {
    return is_named(path, words) || is_named(name, words);
  }
  // A short name may be any word of a sentence, but not with its directory or with these marks.
  if (const std::string in = base_name(directory_of(path)); !in.empty() && is_named(in + '/' + name, words)) {
    return true;
  }
  return is_named(path, words) || contains(words, "'" + name + "'") || contains(words, '"' + name + '"') ||
         contains(words, ": " + name + ": ") || contains(words, "\xe2\x80\x98" + name + "\xe2\x80\x99");
}

int Ranking::of(const Step& step) const {
  const Aftermath seen = aftermath(step);
  const std::string& after = seen.words;
  int score = 0;
  if (is_named(step.path, after) || is_named(step.new_path, after)) {
    score += 40;
  } else if (says_name(step, after)) {
    score += 35;
  }
  if (says_error(step.call.error, after)) {
    score += is_last_before_message(step) ? 30 : 8;
  }
  score += seen.distance == 0 ? 20 : seen.distance <= 2 ? 15 : seen.distance <= 6 ? 10 : seen.distance <= 20 ? 5 : 0;
  score += &step == last_ ? 10 : 0;
  const bool asks_only = is_question(step.call);
  score -= asks_only && is_listed(step.call.error, "ENOENT ENOTDIR") ? 10 : 0;
  // What the command line names and could not be opened explains an end without words, however late it comes.
  const bool is_wanted = asks_only ? is_given_to_option(process_, step.path) : is_given(process_, step.path);
  score += seen.is_silent && is_wanted ? 15 : 0;
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
