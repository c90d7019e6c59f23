#include "pipeline/exports/process_table.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/require.h"

namespace tracer::pipeline::exports {

namespace {

/// The most children that are remembered before they appear: those that are not followed never do.
constexpr std::size_t most_parents = 100'000;

constexpr std::size_t most_execs = 64;                     // of a process
constexpr std::size_t most_bytes = std::size_t{16} << 10;  // of a command line, and of what an exec changes

/// Drops the last words of those that take too many bytes; returns how many.
std::size_t shorten(std::vector<std::string>& words) {
  std::size_t bytes = 0;
  const auto end = std::find_if(words.begin(), words.end(), [&](const std::string& word) {
    bytes += sizeof(std::string) + word.size();
    return bytes > most_bytes;
  });
  const auto left_out = static_cast<std::size_t>(words.end() - end);
  words.erase(end, words.end());
  return left_out;
}

std::map<std::string_view, std::string_view> variables(const std::vector<std::string>& environment) {
  std::map<std::string_view, std::string_view> result;
  for (const std::string_view each : environment) {
    const std::size_t equals = std::min(each.find('='), each.size());
    const std::string_view name = each.substr(0, equals);
    if (name != "_") {  // shells put the program's own name there
      result.try_emplace(name, each);
    }
  }
  return result;
}

}  // namespace

std::vector<std::string> environment_changes(const std::vector<std::string>& before,
                                             const std::vector<std::string>& after) {
  const auto former = variables(before);
  const auto now = variables(after);
  std::vector<std::string> changes;
  for (const auto& [name, whole] : now) {
    const auto known = former.find(name);
    if (known == former.end()) {
      changes.push_back("+" + std::string(whole));
    } else if (known->second != whole) {
      changes.emplace_back(whole);
    }
  }
  for (const auto& [name, whole] : former) {
    if (now.count(name) == 0) {
      changes.push_back("-" + std::string(name));
    }
  }
  return changes;
}

Thread& ProcessTable::appears(pid_t tid, pid_t tgid, std::string_view command, Time time) {
  auto [at, is_new] = processes_.try_emplace(tgid);
  Living& living = at->second;
  if (is_new) {
    Process& process = living.process;
    process.id = ++last_process_;
    process.pid = tgid;
    process.command = command;
    process.start = time;
    if (auto expected = parents_.extract(tid); !expected.empty()) {
      process.parent = expected.mapped().id;
      living.environment = std::move(expected.mapped().environment);
    }
    exporter_.process_appears(process);
  }
  ++living.process.threads;
  auto thread = std::make_unique<Thread>();
  thread->id = ++last_thread_;
  thread->tid = tid;
  thread->process = &living.process;
  thread->command = command;
  thread->start = thread->last = time;
  exporter_.thread_appears(*thread);
  return *(threads_[tid] = std::move(thread));
}

Thread& ProcessTable::of(pid_t tid) {
  const auto found = threads_.find(tid);
  require(found != threads_.end(), "ProcessTable::of() of a thread that has not appeared");
  return *found->second;
}

void ProcessTable::forks(pid_t parent, pid_t child, bool is_thread, Time time) {
  const Thread& thread = of(parent);
  if (!is_thread && parents_.size() < most_parents) {
    parents_[child] = {thread.process->id, processes_.at(thread.process->pid).environment};
  }
  exporter_.forks(thread, child, is_thread, time);
}

std::unique_ptr<Thread> ProcessTable::supersede(pid_t former) {
  auto node = threads_.extract(former);
  return node.empty() ? nullptr : std::move(node.mapped());
}

void ProcessTable::retire(std::unique_ptr<Thread> former) {
  if (former) {
    exporter_.thread_goes(*former);
    release(*former->process, former->last);
  }
}

void ProcessTable::executes(pid_t tid, std::string_view command, Exec exec, std::vector<std::string> environment) {
  Thread& thread = of(tid);
  thread.command = command;
  Process& process = *thread.process;
  process.command = command;
  Living& living = processes_.at(process.pid);
  if (living.environment && !environment.empty()) {
    exec.environment_changes = environment_changes(*living.environment, environment);
  }
  living.environment =
      environment.empty() ? nullptr : std::make_shared<const std::vector<std::string>>(std::move(environment));
  exec.arguments_left_out = shorten(exec.arguments);
  exec.changes_left_out = shorten(exec.environment_changes);
  exec.cut = exec.cut || exec.arguments_left_out != 0;
  if (process.execs.size() == most_execs) {
    process.execs.erase(process.execs.begin() + 1);
    ++process.execs_left_out;
  }
  process.execs.push_back(std::move(exec));
  exporter_.executes(thread);
}

void ProcessTable::goes(pid_t tid) {
  auto node = threads_.extract(tid);
  if (node.empty()) {
    return;
  }
  const Thread& thread = *node.mapped();
  exporter_.thread_goes(thread);
  release(*thread.process, thread.last);
}

void ProcessTable::release(Process& process, Time time) {
  if (--process.threads == 0) {
    process.end = time;
    exporter_.process_goes(process);
    processes_.erase(process.pid);
  }
}

}  // namespace tracer::pipeline::exports
