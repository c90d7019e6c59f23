// Describes what threads wait for: from /proc for live threads, else by their last call.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "explain/story.h"

namespace tracer::explain {

struct ThreadWait {
  pid_t pid = 0;
  pid_t tid = 0;
  std::string command;      ///< "nginx"
  std::string process;      ///< "nginx (pid 4711)"
  std::string name;         ///< of the thread, if it is another one than that of the process
  std::string words;        ///< "in futex: waits for a mutex that thread 12 holds"
  pid_t waits_for = 0;      ///< the thread or process that has what it waits for; 0: unknown
  bool has_others = false;  ///< the process has more threads
};

struct Waits {
  std::vector<ThreadWait> threads;
  std::size_t unseen_processes = 0;  ///< that live, too: looking at each takes time
  bool any_is_stopped = false;       ///< for the tracer, as at calls: what it waits for shows only when it goes on
};

/// True for threads that every Java program has: of the garbage collector, the compiler and the like.
bool is_of_java_itself(std::string_view command, std::string_view name);

/// Returns one for each live thread, and of children that are not traced.
Waits find_waits(const Story& story);

/// Returns a line for each thread, and one for all threads of a process, or all processes of one name, that wait for
/// the same.
std::vector<std::string> describe_waits(const Waits& waits);

}  // namespace tracer::explain
