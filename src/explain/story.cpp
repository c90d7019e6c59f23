#include "explain/story.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/read_file.h"
#include "explain/calls_of_interest.h"
#include "explain/step_room.h"
#include "explain/story_paths.h"
#include "explain/text_search.h"

namespace tracer::explain {

namespace {

// Limits for each process. The oldest entries are dropped first, because early ones seldom explain a failure.
constexpr std::size_t max_steps = 2000;
constexpr std::size_t max_opened = 4000;
constexpr std::size_t max_joined_output = 4096;  // bytes of a line that was written in pieces
constexpr std::size_t max_processes = 20000;
constexpr std::size_t max_environment = std::size_t{64} << 10;
constexpr std::size_t max_programs = 32;
constexpr std::size_t max_arguments = std::size_t{16} << 10;  // bytes of those of a program
constexpr std::size_t max_descriptors = 4096;
constexpr std::size_t max_snapshots = 16;  // limits and credentials seldom change

constexpr std::string_view fatal_signals = "SIGSEGV SIGBUS SIGILL SIGFPE";

std::int64_t pid_in(const Value& info) {
  const Value& pid = info["si_pid"];
  return pid.is_number() ? pid.number : 0;
}

/// Learns the working directory of a recorded process from its calls.
void learn_working_directory(Process& process, const Call& call) {
  for (const Argument& argument : call.args) {
    if (argument.type == "dirfd" && !argument.value.is_number() && !argument.value.name.empty()) {
      process.working_directory = argument.value.name;  // with -y, the trace annotates AT_FDCWD
    }
  }
  if (call.name == "getcwd" && call.outcome == CallOutcome::returned) {
    process.working_directory = call.argument("buf").value.text;
  }
}

constexpr std::size_t most_captured = 60;  // variables; a list that is as long may have been cut

/// Returns the environment of the program that `call` executes: `name=value`, each ended by NUL; empty if unknown. What
/// was cut from it is taken from the environment that the process had before.
std::string environment_of(const Moment& moment, const Call& call, const std::string& inherited) {
  std::string text = moment.system != nullptr ? moment.system->environment(moment.tid) : std::string();
  if (!text.empty()) {
    return text;
  }
  // The process has ended, or was recorded; what is captured of a call may be cut.
  for (const Member& variable : call.argument("envp").value.members) {
    text += variable.value.kind == Value::Kind::text ? variable.value.text + '\0' : std::string();
  }
  const auto& captured = call.argument("envp").value.members;
  for (std::size_t from = 0; captured.size() >= most_captured && from < inherited.size();) {
    const std::size_t end = std::min(inherited.find('\0', from), inherited.size());
    const std::string variable = inherited.substr(from, end - from);
    const std::string name = variable.substr(0, variable.find('=') + 1);
    if (!text.starts_with(name) && text.find('\0' + name) == std::string::npos) {
      text += variable + '\0';
    }
    from = end + 1;
  }
  return text;
}

/// The story keeps many calls, and the arguments and environments that they pass on are large.
void shorten(Call& call) {
  for (Argument& argument : call.args) {
    if (argument.name == "envp") {
      argument.value = {};
    } else if (argument.name == "argv") {
      auto& words = argument.value.members;
      std::size_t size = 0;
      const auto end = std::find_if(words.begin(), words.end(), [&](const Member& word) {
        size += sizeof word + word.value.text.size();
        return size > max_arguments;
      });
      argument.value.cut = argument.value.cut || end != words.end();
      words.erase(end, words.end());
      words.shrink_to_fit();
    }
  }
}

/// Notes the path of a descriptor.
void set_descriptor(Process& process, std::int64_t fd, std::string path) {
  if (process.descriptors.size() < max_descriptors || process.descriptors.count(fd) != 0) {
    process.descriptors[fd] = std::move(path);
  }
}

void take_root(Process& process, const Moment& moment) {
  if (auto now = moment.system->root(moment.tid)) {
    process.root = *std::move(now);
  }
}

void take_snapshot(Process& process, const Moment& moment) {
  if (moment.system == nullptr) {
    return;
  }
  if (auto now = moment.system->snapshot(moment.tid)) {
    if (process.snapshot) {
      process.snapshot->update(*std::move(now));
    } else {
      process.snapshot = std::move(now);
    }
  }
  take_root(process, moment);
  if (std::string here = moment.system->current_directory(moment.tid); !here.empty()) {
    process.working_directory = std::move(here);
  }
}

/// Attaches a snapshot to a failure. Most failures share one, because privileges and limits seldom change.
void attach_snapshot(Process& process, Step& step) {
  if (!process.snapshot) {
    return;
  }
  const auto& kept = process.shared_snapshot;
  if (!kept || !(*kept)->same_rights(*process.snapshot)) {
    if (process.snapshot_count == max_snapshots) {
      return;
    }
    ++process.snapshot_count;
    process.shared_snapshot = std::make_shared<const std::optional<Snapshot>>(process.snapshot);
  }
  step.snapshot = process.shared_snapshot;
}

/// Gives the failure of a mount the paths that mount(2) would have: the source, which earlier calls may have named, and
/// the mount point.
void name_mount(Process& process, const Moment& moment, const Call& call, Step& step) {
  step.mount = process.mounts.failed(call);
  if (step.mount == nullptr || !is_listed(call.name, "fsconfig fsmount move_mount")) {
    return;
  }
  if (call.name == "move_mount" && step.new_path.empty()) {
    step.new_path = step.path;  // NULL stands for the descriptor itself
  }
  const std::string& source = step.mount->source;
  if (!source.empty() || call.name != "move_mount") {
    step.path = source.empty() ? source : absolute_path(process, moment, source);
  }
}

/// Forgets descriptors that exec may have closed: all but the standard ones.
void forget_descriptors(Process& process) {
  process.descriptors.erase(process.descriptors.upper_bound(STDERR_FILENO), process.descriptors.end());
}

/// Tracks which descriptors refer to standard error.
void follow_standard_error(Process& process, const Call& call) {
  if (call.args.empty()) {
    return;
  }
  constexpr std::size_t max_copies = 64;
  const bool duplicates =
      is_listed(call.name, "dup dup2 dup3") || (call.name.compare(0, 5, "fcntl") == 0 && call.args.size() > 1 &&
                                                to_text(call.args[1].value).compare(0, 7, "F_DUPFD") == 0);
  const std::int64_t from = call.args[0].value.number;
  const bool is_copy = duplicates && process.standard_error.count(from) != 0;
  if (const auto source = process.descriptors.find(from); duplicates && source != process.descriptors.end()) {
    set_descriptor(process, call.result, source->second);
  } else if (is_copy) {
    process.descriptors.erase(call.result);  // it goes to standard error again
  } else if (duplicates && from > STDERR_FILENO && call.result == STDERR_FILENO) {
    process.descriptors[call.result] = "pipe";  // what it is was not seen to be opened
  }
  if (is_copy) {
    if (process.standard_error.size() < max_copies) {
      process.standard_error.insert(call.result);
    }
  } else if (call.result != 2 &&
             (duplicates || is_listed(call.name, "open openat openat2 creat socket accept accept4 memfd_create"))) {
    process.standard_error.erase(call.result);  // the number refers to another file now
  }
}

/// False for what only sets a colour, or ends a line.
bool has_words(const std::string& text) {
  constexpr std::ptrdiff_t least_letters = 3;
  return std::count_if(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c) != 0 || c >= 0x80; }) >=
         least_letters;
}

}  // namespace

void Programs::add(Program program) {
  if (kept_.size() == max_programs) {
    kept_.erase(kept_.begin() + 1);
    ++left_out_;
  }
  kept_.push_back(std::make_shared<const Program>(std::move(program)));
}

std::string Process::executable() const {
  return programs.empty() ? (snapshot && command.empty() ? snapshot->executable : std::string()) : programs.back().path;
}

std::string Process::name() const {
  if (programs.empty()) {
    // The first program may have failed to execute.
    for (const Step& step : steps) {
      if (step.kind == Step::Kind::failure && step.call.name.compare(0, 6, "execve") == 0) {
        return step.path.substr(step.path.rfind('/') + 1);
      }
    }
  }
  const std::string path = executable();
  return path.empty() ? command : path.substr(path.rfind('/') + 1);
}

bool Process::is_said(const Step& step) const {
  const auto is_message = [&](const Step& one) { return one.kind == Step::Kind::message && one.order >= last_exec; };
  if (!is_message(step) || !step.is_hidden) {
    return is_message(step);
  }
  const bool has_spoken = !last_output.text.empty() && last_output.order >= step.order;
  return !has_spoken && std::none_of(steps.begin(), steps.end(), [&](const Step& later) {
    return is_message(later) && !later.is_hidden && later.order > step.order;
  });
}

std::string Process::messages() const {
  std::string text;
  for (const Step& step : steps) {
    if (is_said(step)) {
      text += step.text;
    }
  }
  return text;
}

bool Process::is_complaint(const Step& step) const {
  const auto is_said_openly = [&](const Step& one) { return is_said(one) && !one.is_hidden && has_words(one.text); };
  return is_said(step) || (step.kind == Step::Kind::output && step.order >= last_exec &&
                           std::none_of(steps.begin(), steps.end(), is_said_openly));
}

std::string Process::complaints() const {
  std::string text;
  for (const Step& step : steps) {
    if (is_complaint(step)) {
      text += step.text;
    }
  }
  return text;
}

const Process* Story::find(pid_t pid) const {
  const auto at = processes_.find(pid);
  return at == processes_.end() ? nullptr : &at->second;
}

Process& Story::process(pid_t pid) {
  if (const auto at = processes_.find(pid); at != processes_.end()) {
    return at->second;
  }
  // Room is made by the oldest one that has ended: that ended well if there is one.
  for (auto at = ended_.begin(); processes_.size() >= max_processes && at != ended_.end(); ++at) {
    if (const auto old = processes_.find(at->second); old != processes_.end() && old->second.living_children == 0) {
      processes_.erase(old);
      ended_.erase(at);
      break;
    }
  }
  Process& added = processes_[pid];
  added.pid = pid;
  if (first_ == 0) {
    first_ = pid;
  }
  return added;
}

Step& Story::add(Process& process, const Moment& moment, Step::Kind kind) {
  if (process.steps.size() == max_steps) {
    make_room(process.steps);
  }
  Step& step = process.steps.emplace_back();
  step.kind = kind;
  step.tid = moment.tid;
  step.time = moment.time;
  step.order = ++order_;
  step.number = process.calls;
  return step;
}

// ---------------------------------------------------------------------------------------------- calls

void Story::begin_call(pid_t pid, pid_t tid, Time time, const Call& call) {
  if (start_time_ == Time{}) {
    start_time_ = time;
  }
  Process& owner = process(pid);
  if (owner.started == Time{}) {
    owner.started = time;
  }
  owner.stopped_by.clear();
  LastCall& last = owner.threads[tid];
  last.call = call;
  last.since = time;
  last.open = true;
}

void Story::end_call(pid_t pid, const Moment& moment, Call call) {
  Process& owner = process(pid);
  if (start_time_ == Time{}) {
    start_time_ = moment.time;
  }
  if (owner.started == Time{}) {
    owner.started = moment.time;
  }
  ++owner.calls;
  owner.stopped_by.clear();
  if (!live_) {
    learn_working_directory(owner, call);
  }
  LastCall& last = owner.threads[moment.tid];
  last.call = call;
  last.open = call.outcome == CallOutcome::unfinished;
  if (call.outcome == CallOutcome::failed) {
    add_failure(owner, moment, std::move(call));
  } else if (call.outcome == CallOutcome::returned) {
    add_success(owner, moment, std::move(call));
  }
}

/// True if what is written to `fd` does not go where the standard error of the first process goes.
bool Story::is_hidden(const Process& process, const Moment& moment, std::int64_t fd) const {
  if (const auto output = moment.system != nullptr ? moment.system->descriptor(moment.tid, fd) : std::nullopt;
      output && error_output_) {
    return *output != *error_output_;
  }
  const auto known = process.descriptors.find(fd);  // from what it opened and duplicated
  return known != process.descriptors.end() && !is_listed(known->second, "/dev/tty /dev/stderr /proc/self/fd/2");
}

/// Counts, at the first exec, the seccomp filters that the process has and the tracer, its parent, has not.
void Story::count_tracer_filters(const Process& process) {
  if (process.pid != first_ || process.programs.size() != 1 || !process.snapshot) {
    return;
  }
  Snapshot self;
  self.status = read_file("/proc/self/status");
  const std::uint64_t all = process.snapshot->id("Seccomp_filters", 0).value_or(0);
  tracer_filters_ = all - std::min(all, self.id("Seccomp_filters", 0).value_or(0));
}

void Story::add_failure(Process& process, const Moment& moment, Call call) {
  if (is_noise(call)) {
    return;
  }
  const bool common = call.error == "ENOENT";
  if (moment.system != nullptr) {
    if (!common || !process.snapshot) {
      take_snapshot(process, moment);
      if (call.error == "ENOMEM" && process.snapshot && !process.snapshot->mappings) {
        process.snapshot->mappings = moment.system->mappings(moment.tid).size();
        process.shared_snapshot.reset();
      }
    } else {
      take_root(process, moment);
    }
  }
  Step& step = add(process, moment, Step::Kind::failure);
  attach_snapshot(process, step);
  step.path = resolve_path(process, moment, call);
  step.new_path = resolve_new_path(process, moment, call);
  name_mount(process, moment, call, step);
  if (process.working_directory.empty() && moment.system != nullptr) {
    process.working_directory = moment.system->current_directory(moment.tid);
  }
  step.call = std::move(call);
  shorten(step.call);
}

void Story::add_exec(Process& process, const Moment& moment, Call call) {
  Program program;
  program.path = resolve_path(process, moment, call);
  const std::string path = program.path;
  const bool is_launched = live_ && process.pid == first_ && process.programs.empty();
  const std::string inherited = is_launched           ? read_file("/proc/self/environ", max_environment)
                                : process.environment ? *process.environment
                                                      : std::string();
  std::string environment = environment_of(moment, call, inherited).substr(0, max_environment);
  shorten(call);
  for (const Member& word : call.argument("argv").value.members) {
    program.args.push_back(word.value.text);
  }
  process.programs.add(std::move(program));
  forget_descriptors(process);
  if (!environment.empty() && (!process.environment || *process.environment != environment)) {
    process.environment = std::make_shared<const std::string>(std::move(environment));
  }  // else that of its parent, which it most likely has as well
  Step& step = add(process, moment, Step::Kind::exec);
  step.path = path;
  step.call = std::move(call);
  process.last_exec = step.order;
  take_snapshot(process, moment);
  count_tracer_filters(process);
  if (!error_output_ && process.pid == first_ && moment.system != nullptr) {
    error_output_ = moment.system->descriptor(moment.tid, STDERR_FILENO);
  }
}

void Story::add_write(Process& process, const Moment& moment, Call call, std::int64_t fd) {
  if (process.standard_error.count(fd) != 0) {
    Step& step = add(process, moment, Step::Kind::message);
    step.text = output_text(call);
    step.is_hidden = is_hidden(process, moment, fd);
    step.call = std::move(call);
    return;
  }
  if (call.result <= 0) {
    return;  // some write nothing to flush what they wrote
  }
  // Some programs write a line in pieces.
  LastOutput& last = process.last_output;
  const bool continues =
      fd == STDOUT_FILENO && !last.text.empty() && last.text.back() != '\n' && last.text.size() < max_joined_output;
  const bool is_kept = continues && !process.steps.empty() && process.steps.back().order == last.order + 1 &&
                       process.steps.back().kind == Step::Kind::output;
  const std::string begun = continues ? std::exchange(last.text, {}) : std::string();
  if (is_kept) {
    process.steps.pop_back();
  }
  last = {fd == STDOUT_FILENO ? begun + output_text(call) : std::string(), order_};
  if (reports_error(last.text)) {
    Step& step = add(process, moment, Step::Kind::output);
    step.text = lines_where(last.text, reports_error);
    step.call = std::move(call);
  }
}

void Story::add_success(Process& process, const Moment& moment, Call call) {
  if (is_listed(call.name, "execve execveat")) {
    return add_exec(process, moment, std::move(call));
  }
  if (changes_context(call)) {
    take_snapshot(process, moment);
  }
  if (is_socket_error(call)) {
    // A nonblocking connect has failed.
    call.outcome = CallOutcome::failed;
    call.is_report = true;
    call.error = to_text(call.argument("optval").value);
    std::erase_if(call.error, [](char c) { return c == '[' || c == ']'; });
    return add_failure(process, moment, std::move(call));
  }
  follow_standard_error(process, call);
  process.mounts.follow(call, is_listed(call.name, "open_tree open_tree_attr fspick")
                                  ? resolve_path(process, moment, call)
                                  : std::string());
  if (const std::int64_t fd = output_descriptor(call); fd >= 0) {
    return add_write(process, moment, std::move(call), fd);
  }
  if (is_listed(call.name, "wait4 waitid")) {
    return add_wait(process, moment, call);
  }
  if (call.name.compare(0, 4, "open") == 0 || call.name == "creat") {
    std::string path = resolve_path(process, moment, call);
    if (process.opened.size() == max_opened) {
      process.opened.pop_front();
    }
    set_descriptor(process, call.result, path);
    process.opened.push_back({std::move(path), ++order_});
    return;
  }
  if (call.name == "chdir" && (moment.system == nullptr || process.working_directory.empty())) {
    process.working_directory = resolve_path(process, moment, call);
    return;
  }
  if (is_wanted_success(call)) {
    Step& step = add(process, moment, Step::Kind::other);
    step.path = resolve_path(process, moment, call);
    step.call = std::move(call);
  }
}

void Story::add_wait(Process& process, const Moment& moment, const Call& call) {
  const std::int64_t child = call.name == "wait4" ? call.result : pid_in(call.argument("siginfo").value);
  if (child <= 0 || find(static_cast<pid_t>(child)) == nullptr) {
    return;
  }
  Step& step = add(process, moment, Step::Kind::waited);
  step.child = static_cast<pid_t>(child);
  step.call = call;
  processes_[step.child].collected = true;
}

// ---------------------------------------------------------------------------------------------- what else happens

void Story::signal(pid_t pid, const Moment& moment, SignalInfo signal) {
  if (signal.name == "SIGCONT") {
    process(pid).stopped_by.clear();
  }
  if (is_listed(signal.name, "SIGCHLD SIGURG SIGWINCH SIGCONT")) {
    return;
  }
  Process& owner = process(pid);
  const bool crash = is_listed(signal.name, fatal_signals);
  // Programs that catch a signal to tidy up send it to themselves when they are ready to end.
  if (!crash && owner.crash && owner.crash->signal.name == signal.name && pid_in(signal.info) == pid) {
    return;
  }
  Crash& kept = owner.crash.emplace();
  kept.tid = moment.tid;
  kept.order = ++order_;
  if (moment.system != nullptr && (crash || is_listed(signal.name, "SIGSYS SIGXCPU SIGXFSZ SIGABRT SIGTRAP"))) {
    take_snapshot(owner, moment);
    if (crash) {
      kept.mappings = moment.system->mappings(moment.tid);
      kept.stack_pointer = moment.system->stack_pointer(moment.tid);
    }
  }
  kept.signal = std::move(signal);
}

void Story::fork(pid_t pid, pid_t child, bool is_thread, Time time) {
  if (is_thread) {
    return;
  }
  Process& parent = process(pid);
  ++parent.living_children;
  Process copy;
  copy.pid = child;
  copy.parent = pid;
  copy.programs = parent.programs;
  copy.command = parent.command;
  copy.environment = parent.environment;
  copy.descriptors = parent.descriptors;
  copy.mounts = parent.mounts;
  copy.standard_error = parent.standard_error;
  copy.root = parent.root;
  copy.snapshot = parent.snapshot;
  copy.shared_snapshot = parent.shared_snapshot;
  copy.working_directory = parent.working_directory;
  copy.started = time;
  Process& place = process(child);
  if (place.exit) {
    ended_.erase({!place.exit->good(), place.exit_order});
  }
  place = std::move(copy);  // replaces an exited process with the same ID
}

void Story::exec(pid_t pid, Time) {
  Process& owner = process(pid);
  owner.threads.clear();
  owner.crash.reset();
}

void Story::exited(pid_t pid, pid_t tid, Time time, ExitInfo exit) {
  Process& owner = process(pid);
  if (tid != pid) {
    owner.threads.erase(tid);
    return;
  }
  exit.time = time;
  if (owner.exit) {
    ended_.erase({!owner.exit->good(), owner.exit_order});
  } else if (const auto parent = processes_.find(owner.parent);
             parent != processes_.end() && parent->second.living_children != 0) {
    --parent->second.living_children;
  }
  owner.exit_order = ++order_;
  owner.descriptors.clear();
  if (pid != first_) {
    ended_.emplace(std::pair(!exit.good(), owner.exit_order), pid);
  }
  owner.exit = std::move(exit);
}

void Story::detached(pid_t pid, pid_t) {
  process(pid).detached = true;
}

}  // namespace tracer::explain
