// The ptrace engine: launches or attaches, follows, and reports what stops.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/engine.h"

namespace tracer {

/// Who a launched program shall be (-u). Needs root.
struct Identity {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  ///< supplementary groups
};

/// -E NAME=VALUE, or -E NAME to remove; applied in order.
struct EnvironmentChange {
  std::string name;
  std::optional<std::string> value;
};

/// Where the tracer itself lives (-D, -DD, -DDD).
enum class Daemonize : std::uint8_t { no, grandchild, process_group, session };

struct LaunchOptions {
  std::string path;               ///< the file to execute; find_program() searches PATH
  std::vector<std::string> args;  ///< from argv[0] on, with --argv0 already in its place
  std::vector<EnvironmentChange> environment;
  std::optional<Identity> identity;
  Daemonize daemonize = Daemonize::no;
  /// Before the child's own last words ("exec: Exec format error") on standard error, such as "strace: ".
  std::string message_prefix;
};

/// -I: what the signals do that would end the tracer. SIGKILL always ends it.
enum class Interruptible : std::uint8_t {
  anywhere,    ///< they end it at once, even where it is stuck in writing; the kernel lets the tracees go
  waiting,     ///< they make it detach and stop; the default
  never,       ///< -o FILE PROG
  never_tstp,  ///< and SIGTSTP is blocked as well; with -D
};

struct EngineOptions {
  std::optional<LaunchOptions> launch;
  std::vector<pid_t> attach;  ///< processes (or threads, as strace allows) of -p
  bool follow_forks = false;
  bool kill_on_exit = false;  ///< tracees die with the tracer, however it dies
  bool strict = false;        ///< messages in strace's words alone, exit status 1 where exec fails
  bool cpu_time = false;      ///< fill SyscallExit::cpu_time
  Interruptible interruptible = Interruptible::waiting;
  /// Calls to report; everything if empty. The engine may report more than these, never less.
  std::optional<WantedCalls> wanted;
  /// Why no seccomp filter may keep unwanted calls from stopping; empty if one may. Must say so where a tracee may be
  /// let go before its end (-b, --syscall-limit, -I1): a filter without a tracer makes the calls it traps fail with
  /// ENOSYS.
  std::string no_filter_because;
  /// -d: what the engine learns about the kernel, what it chooses, and each report, one sentence each; may be empty.
  std::function<void(const std::string&)> debug;
};

/// Searches PATH for `name` unless it has a slash. The error's sentence is strace's: "Can't stat 'x': No such file …".
Result<std::string> find_program(const std::string& name);

/// "NAME" (with its groups) or "UID:GID" (with none).
Result<Identity> find_identity(const std::string& user);

/// Starts the program up to its first system call and attaches to the processes that are to be attached. Processes
/// that cannot be attached are told to `complain`, one sentence each, without prefix; an error comes back if nothing
/// at all can be traced (its message is empty if everything has been said already).
/// With LaunchOptions::daemonize it returns in another process than it was called in.
Result<std::unique_ptr<Engine>> make_ptrace_engine(EngineOptions options,
                                                   const std::function<void(const std::string&)>& complain);

}  // namespace tracer
