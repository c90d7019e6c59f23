#include "explain/verdict.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "base/read_file.h"
#include "explain/benign.h"
#include "explain/owners.h"
#include "explain/ranking.h"
#include "explain/shell_word.h"
#include "explain/socket_address.h"
#include "explain/text_search.h"
#include "proc/proc_text.h"

namespace tracer::explain {

namespace {

const ThreadWait* wait_of(const std::vector<ThreadWait>& waits, pid_t tid) {
  const auto at = std::find_if(waits.begin(), waits.end(), [&](const ThreadWait& wait) { return wait.tid == tid; });
  return at == waits.end() ? nullptr : &*at;
}

/// Follows from each thread the thread that it waits for, until it comes back to it.
std::string deadlock(const std::vector<ThreadWait>& waits) {
  for (const ThreadWait& first : waits) {
    std::vector<pid_t> chain = {first.tid};
    const ThreadWait* at = &first;
    while (at != nullptr && at->waits_for != 0 && chain.size() <= waits.size()) {
      if (at->waits_for == first.tid) {
        std::string text;
        for (const pid_t tid : chain) {
          text += fmt::format("{}thread {}", text.empty() ? "" : " waits for ", tid);
        }
        return chain.size() == 1 ? "it is a deadlock: " + text + " waits for what it holds itself"
                                 : fmt::format("it is a deadlock: {} waits for thread {} again", text, first.tid);
      }
      chain.push_back(at->waits_for);
      at = wait_of(waits, at->waits_for);
    }
  }
  return {};
}

/// freezer: cgroup.events of version 2, freezer.state of version 1 (cgroups(7)).
std::string frozen(const std::vector<ThreadWait>& waits) {
  if (waits.empty()) {
    return {};
  }
  std::istringstream lines(read_file(proc::proc_path(waits.front().pid, "cgroup")));
  for (std::string line; std::getline(lines, line);) {
    const bool is_version_2 = line.starts_with("0::");
    const std::size_t freezer = line.find(":freezer:");
    const std::string group = is_version_2                   ? line.substr(3)
                              : freezer == std::string::npos ? std::string()
                                                             : line.substr(freezer + 9);
    for (const std::string& place :
         {"/sys/fs/cgroup" + group, "/sys/fs/cgroup/unified" + group, "/sys/fs/cgroup/freezer" + group}) {
      const bool is_frozen = !group.empty() && (contains(read_file(place + "/cgroup.events", 4096), "frozen 1") ||
                                                contains(read_file(place + "/freezer.state", 64), "FROZEN"));
      if (is_frozen) {
        return "its control group " + printable(group) + " is frozen: echo 0 > " +
               shell_word(printable(place + "/cgroup.freeze")) + " thaws it";
      }
    }
  }
  return {};
}

/// State D: the kernel lets no signal interrupt the wait.
std::string uninterruptible(const std::vector<ThreadWait>& waits) {
  for (const ThreadWait& wait : waits) {
    const std::string status = read_file(proc::proc_path(wait.tid, "status"));
    if (proc::find_field(status, "State").starts_with("D")) {
      const std::string where = read_file(proc::proc_path(wait.tid, "wchan"), 128);
      return wait.process + " is in an uninterruptible sleep of the kernel (state D" +
             (where.size() > 1 ? ", in " + printable(where) : std::string()) +
             "): a disk, a driver or a file system does not answer, and no signal ends it";
    }
  }
  return {};
}

/// Returns the longest text in a value.
std::string longest_string(const Value& value) {
  std::string longest = value.text;
  for (const Member& member : value.members) {
    const std::string inner = longest_string(member.value);
    longest = inner.size() > longest.size() ? inner : longest;
  }
  return longest;
}

std::string name_service(const Story& story, const std::vector<ThreadWait>& waits) {
  const auto waiting = std::find_if(waits.begin(), waits.end(),
                                    [](const ThreadWait& wait) { return contains(wait.words, "the name server "); });
  if (waiting == waits.end()) {
    return {};
  }
  std::string name;
  const Process* process = story.find(waiting->pid);
  for (const Step& step : process != nullptr ? process->steps : std::deque<Step>()) {
    if (!is_listed(step.call.name, "sendto sendmmsg")) {
      continue;
    }
    for (const Argument& argument : step.call.args) {
      const std::string asked = name_asked(longest_string(argument.value));
      name = asked.find('.') == std::string::npos ? name : asked;
    }
  }
  return "it waits for the name server to answer (DNS)" + (name.empty() ? "" : ": it asks for " + name);
}

/// A call that failed several times in the same way.
struct Tries {
  unsigned count = 0;
  Time first{};
  const Step* last = nullptr;
  std::string peer;  ///< what it connects to; empty: it is another call
};

/// True if a call that failed twice at least would have been repeated by now, if the program still tried.
bool is_over(const Tries& tries) {
  constexpr Time least_pause = std::chrono::milliseconds(50);
  constexpr int patience = 4;  // pauses often grow
  const Time pause = std::max((tries.last->time - tries.first) / (tries.count - 1), least_pause);
  const Time now = std::chrono::system_clock::now().time_since_epoch();
  return now - tries.last->time > patience * pause;
}

bool is_possible_try(const Process& process, const Step& step) {
  return step.kind == Step::Kind::failure && step.order >= process.last_exec && step.call.error != "EINPROGRESS" &&
         !(step.call.name.starts_with("readlink") && step.call.error == "EINVAL") &&  // asks whether it is a link
         benign_reason(process, step).empty();
}

/// Returns the last failure that explains why a child failed; nullptr if it did not fail, or none does.
const Step* last_failure(const Process& child) {
  if (!child.exit || child.exit->good()) {
    return nullptr;
  }
  const auto at = std::find_if(child.steps.rbegin(), child.steps.rend(),
                               [&](const Step& step) { return is_possible_try(child, step); });
  return at == child.steps.rend() ? nullptr : &*at;
}

struct Try {
  const Process* process;
  const Step* step;
};

/// Returns the address of a failed connection: of getsockopt(SO_ERROR), that of the connect before.
std::string peer_of_try(const Try& one) {
  Peer peer = peer_of(one.step->call);
  for (const Step& step : one.process->steps) {
    const bool is_its = one.step->call.is_report && step.call.name == "connect" && step.order < one.step->order &&
                        step.call.descriptor("sockfd") == one.step->call.descriptor("sockfd");
    peer = is_its ? peer_of(step.call) : peer;
  }
  return peer.port == 0 && peer.path.empty() ? std::string() : peer.name();
}

/// Returns the failures of a process that may be tries of one thing: its own of late, and the last ones of children
/// that failed.
std::vector<Try> possible_tries(const Story& story, const Process& process) {
  constexpr std::size_t recent = 60;
  std::vector<Try> found;
  const std::size_t from = process.steps.size() > recent ? process.steps.size() - recent : 0;
  for (std::size_t i = from; i < process.steps.size(); ++i) {
    const Step& step = process.steps[i];
    if (is_possible_try(process, step)) {
      found.push_back({&process, &step});
    }
  }
  for (const auto& [pid, child] : story.processes()) {
    const Step* step = child.parent == process.pid && pid != process.pid ? last_failure(child) : nullptr;
    if (step != nullptr) {
      found.push_back({&child, step});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Try& one, const Try& other) { return one.step->order < other.step->order; });
  return found;
}

/// Finds a call that keeps failing in the same way while the process sleeps in between.
std::string retries(const Story& story, const std::vector<ThreadWait>& waits) {
  constexpr unsigned least = 3;
  for (const ThreadWait& wait : waits) {
    const Process* process = story.find(wait.pid);
    const bool sleeps = contains(wait.words, "waits for a child") || contains(wait.words, "waits for its child") ||
                        contains(wait.words, "sleep") || contains(wait.words, "time") || contains(wait.words, "runs") ||
                        contains(wait.words, "waits for the lock ");
    if (process == nullptr || !sleeps) {
      continue;
    }
    std::map<std::string, Tries> tries;
    for (const Try& one : possible_tries(story, *process)) {
      const Step& step = *one.step;
      const std::string peer = peer_of_try(one);  // each try has a socket of its own
      Tries& same = tries[step.call.name + ' ' + step.call.error + ' ' + (peer.empty() ? step.path : peer)];
      same.first = same.count++ == 0 ? step.time : same.first;
      same.last = &step;
      same.peer = peer;
    }
    Tries best;
    for (const auto& [what, one] : tries) {
      best = one.count >= least && one.count > best.count && !is_over(one) ? one : best;
    }
    const Step* most = best.last;
    if (most == nullptr) {
      continue;
    }
    std::string holder;
    struct stat info;
    if (is_listed(most->call.name, "flock fcntl fcntl64") && ::stat(most->path.c_str(), &info) == 0) {
      for (const pid_t pid : lock_holders(info.st_dev, info.st_ino)) {
        holder = pid > 0 && pid != wait.pid ? ", which " + describe_process(pid) + " holds" : holder;
      }
    }
    const std::string what = is_listed(most->call.name, "flock fcntl fcntl64")
                                 ? "the lock of " + printable(most->path) + holder
                             : most->call.is_report ? "to connect to " + best.peer
                                                    : to_text(most->call, false);
    return fmt::format("it tries again and again: {} ({}, {} times lately)", what, error_text_of(most->call.error),
                       best.count);
  }
  return {};
}

/// Java keeps to itself who holds its monitors: if all threads of the program wait for another one, only its own tool
/// shows whether that is a deadlock.
std::string java_threads(const std::vector<ThreadWait>& waits) {
  std::vector<std::string> names;
  pid_t pid = 0;
  for (const ThreadWait& wait : waits) {
    if (wait.command != "java" || is_of_java_itself(wait.command, wait.name)) {
      continue;
    }
    const bool waits_for_thread = contains(wait.words, "until another thread wakes it") || wait.waits_for != 0;
    if (!waits_for_thread || (pid != 0 && pid != wait.pid)) {
      return {};
    }
    pid = wait.pid;
    if (!wait.name.empty()) {
      names.push_back(wait.name);
    }
  }
  return names.size() < 2 ? std::string()
                          : fmt::format(
                                "its threads {} all wait for another thread: for work, or it is a deadlock; "
                                "jstack {} shows the monitors that they hold and wait for",
                                join_first(std::move(names)), pid);
}

/// True if every thread waits, and one for connections.
std::string idle_server(const std::vector<ThreadWait>& waits) {
  for (const ThreadWait& wait : waits) {
    const std::size_t at = wait.words.find("connections to ");
    if (at != std::string::npos) {
      const std::string address = wait.words.substr(at, wait.words.find_first_of(";,", at) - at);
      return "it is a server with nothing to do: it waits for " + address;
    }
  }
  return {};
}

}  // namespace

std::string verdict_on(const Story& story, const std::vector<ThreadWait>& waits) {
  if (!story.live()) {
    return {};
  }
  for (std::string text : {frozen(waits), deadlock(waits), uninterruptible(waits), name_service(story, waits),
                           retries(story, waits), idle_server(waits), java_threads(waits)}) {
    if (!text.empty()) {
      return text;
    }
  }
  return {};
}

}  // namespace tracer::explain
