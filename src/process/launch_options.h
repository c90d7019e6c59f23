// The program to be traced: who it is and where it comes from.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/daemonize.h"

namespace tracer::process {

/// Who a launched program shall be (-u). Needs root.
struct Identity {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  ///< supplementary groups
};

struct LaunchOptions {
  std::string path;                      ///< the file to execute; find_program() searches PATH
  std::vector<std::string> args;         ///< from argv[0] on, with --argv0 already in its place
  std::vector<std::string> environment;  ///< changes to it, in order: NAME=VALUE, or NAME to remove it
  std::optional<Identity> identity;
  std::optional<rlimit> stack_limit;  ///< instead of the tracer's own
  Daemonize daemonize = Daemonize::no;
  bool no_new_rights = false;  ///< set-user-ID bits and file capabilities are ignored, as under an unprivileged tracer
  bool takes_streams = false;  ///< the tracer leaves its standard input and output to the program
  /// Before the child's own last words ("exec: Exec format error") on standard error, such as "strace: ".
  std::string message_prefix;
};

/// Searches PATH for `name` unless it has a slash. The error's sentence is strace's: "Cannot find executable 'x'".
Result<std::string> find_program(const std::string& name);

/// A user by name, with all groups.
Result<Identity> find_identity(const std::string& user);

}  // namespace tracer::process
