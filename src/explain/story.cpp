#include "explain/story.h"

#include <algorithm>

#include "base/read_file.h"
#include "explain/calls_of_interest.h"
#include "explain/words.h"

namespace tracer::explain {

namespace {

// The most that is kept of one process: what is oldest goes first. The first steps hardly ever matter for the end.
constexpr std::size_t most_steps = 2000;
constexpr std::size_t most_opened = 4000;
constexpr std::size_t most_processes = 20000;
constexpr std::size_t most_snapshots = 16;  // of one process; limits and ids seldom change

constexpr std::string_view fatal_signals = "SIGSEGV SIGBUS SIGILL SIGFPE";

std::int64_t pid_in(const Value& info) {
  const Value& pid = info["si_pid"];
  return pid.is_number() ? pid.number : 0;
}

}  // namespace

std::string Process::executable() const {
  return programs.empty() ? (snapshot && command.empty() ? snapshot->executable : std::string()) : programs.back().path;
}

std::string Process::name() const {
  if (programs.empty()) {
    // Its first program may be what could not be executed.
    for (const Step& step : steps) {
      if (step.kind == Step::Kind::failure && step.call.name.compare(0, 6, "execve") == 0) {
        return step.path.substr(step.path.rfind('/') + 1);
      }
    }
  }
  const std::string path = executable();
  return path.empty() ? command : path.substr(path.rfind('/') + 1);
}

std::string Process::said() const {
  std::string text;
  for (const Step& step : steps) {
    if (step.kind == Step::Kind::said && step.order >= image_begins) {
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
  if (processes_.size() >= most_processes) {
    // One that ended well goes.
    const auto gone = std::find_if(processes_.begin(), processes_.end(), [this](const auto& entry) {
      return entry.first != first_ && entry.second.end && entry.second.end->good();
    });
    if (gone != processes_.end()) {
      processes_.erase(gone);
    }
  }
  Process& added = processes_[pid];
  added.pid = pid;
  if (first_ == 0) {
    first_ = pid;
  }
  return added;
}

Step& Story::add(Process& process, pid_t tid, Time time, Step::Kind kind) {
  if (process.steps.size() == most_steps) {
    process.steps.pop_front();
  }
  Step& step = process.steps.emplace_back();
  step.kind = kind;
  step.tid = tid;
  step.time = time;
  step.order = ++order_;
  step.number = process.calls;
  return step;
}

// ---------------------------------------------------------------------------------------------- calls

void Story::begin_call(pid_t pid, pid_t tid, Time time, const Call& call) {
  if (began_ == Time{}) {
    began_ = time;
  }
  Process& owner = process(pid);
  if (owner.began == Time{}) {
    owner.began = time;
  }
  owner.stopped_by.clear();
  LastCall& last = owner.threads[tid];
  last.call = call;
  last.since = time;
  last.open = true;
}

void Story::end_call(pid_t pid, pid_t tid, Time time, Call call) {
  Process& owner = process(pid);
  if (began_ == Time{}) {
    began_ = time;
  }
  if (owner.began == Time{}) {
    owner.began = time;
  }
  ++owner.calls;
  owner.stopped_by.clear();
  learn_folder(owner, call);
  LastCall& last = owner.threads[tid];
  last.call = call;
  last.open = call.end == CallEnd::unfinished;
  if (call.end == CallEnd::failed) {
    keep_failure(owner, tid, time, std::move(call));
  } else if (call.end == CallEnd::returned) {
    keep_success(owner, tid, time, std::move(call));
  }
}

void Story::look_at_root(Process& process, pid_t tid) {
  if (auto now = surroundings_->root(tid)) {
    process.root = *std::move(now);
  }
}

void Story::look_at(Process& process, pid_t tid) {
  if (surroundings_ == nullptr) {
    return;
  }
  if (auto now = surroundings_->snapshot(tid)) {
    if (process.snapshot) {
      process.snapshot->update(*std::move(now));
    } else {
      process.snapshot = std::move(now);
    }
  }
  look_at_root(process, tid);
  if (std::string here = surroundings_->current_directory(tid); !here.empty()) {
    process.working_directory = std::move(here);
  }
}

/// Rights seldom change, so that most failures share one.
void Story::keep_snapshot(Process& process, Step& step) {
  if (!process.snapshot) {
    return;
  }
  const auto& kept = process.kept_snapshot;
  if (!kept || !(*kept)->same_rights(*process.snapshot)) {
    if (process.kept_snapshots == most_snapshots) {
      return;
    }
    ++process.kept_snapshots;
    process.kept_snapshot = std::make_shared<const std::optional<Snapshot>>(process.snapshot);
  }
  step.snapshot = process.kept_snapshot;
}

/// When the first program begins: what filters it has that the tracer, its parent, has not.
void Story::count_own_filters(const Process& process) {
  if (process.pid != first_ || process.programs.size() != 1 || !process.snapshot) {
    return;
  }
  Snapshot self;
  self.status = read_file("/proc/self/status");
  const std::uint64_t all = process.snapshot->id("Seccomp_filters", 0).value_or(0);
  own_filters_ = all - std::min(all, self.id("Seccomp_filters", 0).value_or(0));
}

/// Of a recorded run: where the trace says in which folder the process is.
void Story::learn_folder(Process& process, const Call& call) {
  if (surroundings_ != nullptr) {
    return;
  }
  for (const Argument& argument : call.args) {
    if (argument.type == "dirfd" && !argument.value.is_number() && !argument.value.name.empty()) {
      process.working_directory = argument.value.name;  // of AT_FDCWD, with -y
    }
  }
  if (call.name == "getcwd" && call.end == CallEnd::returned) {
    process.working_directory = call.argument("buf").value.text;
  }
}

void Story::keep_failure(Process& process, pid_t tid, Time time, Call call) {
  if (is_noise(call)) {
    return;
  }
  const bool common = call.error == "ENOENT";
  if (surroundings_ != nullptr) {
    if (!common || !process.snapshot) {
      look_at(process, tid);
    } else {
      look_at_root(process, tid);
    }
  }
  Step& step = add(process, tid, time, Step::Kind::failure);
  keep_snapshot(process, step);
  step.path = resolve(process, tid, call);
  if (process.working_directory.empty() && surroundings_ != nullptr) {
    process.working_directory = surroundings_->current_directory(tid);
  }
  step.call = std::move(call);
}

void Story::keep_success(Process& process, pid_t tid, Time time, Call call) {
  if (is_listed(call.name, "execve execveat")) {
    Program program;
    program.path = resolve(process, tid, call);
    for (const Member& word : call.argument("argv").value.members) {
      program.args.push_back(word.value.text);
    }
    process.programs.push_back(program);
    process.descriptors.clear();
    Step& step = add(process, tid, time, Step::Kind::exec);
    step.path = program.path;
    step.call = std::move(call);
    process.image_begins = step.order;
    look_at(process, tid);
    count_own_filters(process);
    return;
  }
  if (is_turning_point(call)) {
    look_at(process, tid);
  }
  if (is_socket_error(call)) {
    // The late failure of a connection that was made without waiting.
    call.end = CallEnd::failed;
    call.error = spell(call.argument("optval").value);
    call.error.erase(std::remove_if(call.error.begin(), call.error.end(), [](char c) { return c == '[' || c == ']'; }),
                     call.error.end());
    keep_failure(process, tid, time, std::move(call));
    return;
  }
  follow_standard_error(process, call);
  if (const std::int64_t fd = written_to(call); fd >= 0) {
    if (process.standard_error.count(fd) != 0) {
      std::string text = written(call);
      Step& step = add(process, tid, time, Step::Kind::said);
      step.text = std::move(text);
      step.call = std::move(call);
    }
    return;
  }
  if (is_listed(call.name, "wait4 waitid")) {
    saw_wait(process, tid, time, call);
    return;
  }
  if (call.name.compare(0, 4, "open") == 0 || call.name == "creat") {
    std::string path = resolve(process, tid, call);
    if (process.opened.size() == most_opened) {
      process.opened.pop_front();
    }
    process.descriptors[call.result] = path;
    process.opened.push_back({std::move(path), ++order_});
    return;
  }
  if (call.name == "chdir" && (surroundings_ == nullptr || process.working_directory.empty())) {
    process.working_directory = resolve(process, tid, call);
    return;
  }
  if (is_wanted_success(call)) {
    Step& step = add(process, tid, time, Step::Kind::other);
    step.path = resolve(process, tid, call);
    step.call = std::move(call);
  }
}

void Story::follow_standard_error(Process& process, const Call& call) {
  if (call.args.empty()) {
    return;
  }
  constexpr std::size_t most = 64;
  const bool duplicates =
      is_listed(call.name, "dup dup2 dup3") || (call.name.compare(0, 5, "fcntl") == 0 && call.args.size() > 1 &&
                                                spell(call.args[1].value).compare(0, 7, "F_DUPFD") == 0);
  if (duplicates && process.standard_error.count(call.args[0].value.number) != 0) {
    if (process.standard_error.size() < most) {
      process.standard_error.insert(call.result);
    }
  } else if (call.result != 2 &&
             (duplicates || is_listed(call.name, "open openat openat2 creat socket accept accept4 memfd_create"))) {
    process.standard_error.erase(call.result);  // it is something else now
  }
}

void Story::saw_wait(Process& process, pid_t tid, Time time, const Call& call) {
  const std::int64_t child = call.name == "wait4" ? call.result : pid_in(call.argument("infop").value);
  if (child <= 0 || find(static_cast<pid_t>(child)) == nullptr) {
    return;
  }
  Step& step = add(process, tid, time, Step::Kind::waited);
  step.child = static_cast<pid_t>(child);
  step.call = call;
  processes_[step.child].collected = true;
}

// ---------------------------------------------------------------------------------------------- what else happens

void Story::signal(pid_t pid, pid_t tid, Time, SignalInfo signal) {
  if (signal.name == "SIGCONT") {
    process(pid).stopped_by.clear();
  }
  if (is_listed(signal.name, "SIGCHLD SIGURG SIGWINCH SIGCONT")) {
    return;
  }
  Process& owner = process(pid);
  const bool crash = is_listed(signal.name, fatal_signals);
  Crash& kept = owner.crash.emplace();
  kept.tid = tid;
  kept.order = ++order_;
  if (surroundings_ != nullptr && (crash || is_listed(signal.name, "SIGSYS SIGXCPU SIGXFSZ SIGABRT SIGTRAP"))) {
    look_at(owner, tid);
    if (crash) {
      kept.mappings = surroundings_->mappings(tid);
      kept.stack_pointer = surroundings_->stack_pointer(tid);
    }
  }
  kept.signal = std::move(signal);
}

void Story::fork(pid_t pid, pid_t child, bool is_thread, Time time) {
  if (is_thread) {
    return;
  }
  const Process& parent = process(pid);
  Process copy;
  copy.pid = child;
  copy.parent = pid;
  copy.programs = parent.programs;
  copy.command = parent.command;
  copy.descriptors = parent.descriptors;
  copy.standard_error = parent.standard_error;
  copy.root = parent.root;
  copy.snapshot = parent.snapshot;
  copy.kept_snapshot = parent.kept_snapshot;
  copy.working_directory = parent.working_directory;
  copy.began = time;
  process(child) = std::move(copy);  // also where the id is used again
}

void Story::exec(pid_t pid, Time) {
  Process& owner = process(pid);
  owner.threads.clear();
  owner.crash.reset();
}

void Story::exited(pid_t pid, pid_t tid, Time time, End end) {
  Process& owner = process(pid);
  if (tid != pid) {
    owner.threads.erase(tid);
    return;
  }
  end.time = time;
  owner.end = std::move(end);
}

void Story::detached(pid_t pid, pid_t) {
  process(pid).detached = true;
}

}  // namespace tracer::explain
