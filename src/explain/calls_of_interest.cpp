#include "explain/calls_of_interest.h"

#include "explain/text_search.h"

namespace tracer::explain {

namespace {

constexpr std::string_view context_changes =
    "execve execveat setrlimit prlimit64 setuid setresuid setreuid setgroups capset seccomp prctl chroot pivot_root "
    "unshare setns chdir fchdir";

constexpr std::size_t longest_text = 4096;

}  // namespace

bool is_noise(const Call& call) {
  const bool is_interrupted = call.error.compare(0, 7, "ERESTAR") == 0 || call.failed_with("EINTR");
  return call.failed_with("ENOTTY") || (is_interrupted && call.name != "flock") ||  // a time limit for the lock
         (is_listed(call.name, "wait4 waitid") && call.error == "ECHILD") ||
         (call.name == "fcntl" && call.error == "EBADF") ||
         (call.name == "prctl" && contains(to_text(call, false), "PR_CAPBSET_READ"));  // asks which there are
}

bool is_wanted_success(const Call& call) {
  return is_listed(call.name,
                   "connect prctl seccomp sendto sendmmsg recvfrom poll ppoll setrlimit prlimit64 kill unlink unlinkat "
                   "bind landlock_restrict_self") ||
         (call.name == "getsockopt" && to_text(call.argument("optname").value) == "SO_ERROR");
}

bool is_socket_error(const Call& call) {
  return call.name == "getsockopt" && to_text(call.argument("optname").value) == "SO_ERROR" &&
         to_text(call.argument("optval").value).find('E') != std::string::npos;
}

std::int64_t output_descriptor(const Call& call) {
  return is_listed(call.name, "write writev pwrite64") ? call.descriptor() : -1;
}

std::string output_text(const Call& call) {
  const Value& data = call.argument("buf").value;
  std::string text = data.text;
  for (const Argument& argument : call.args) {
    if (argument.value.kind == Value::Kind::list) {
      for (const Member& piece : argument.value.members) {
        text += piece.value["iov_base"].text;
      }
    }
  }
  return text.substr(0, longest_text);
}

bool changes_context(const Call& call) {
  return is_listed(call.name, context_changes);
}

std::string context_changing_calls() {
  std::string list = "?" + std::string(context_changes);
  for (std::size_t at = list.find(' '); at != std::string::npos; at = list.find(' ', at)) {
    list.replace(at, 1, ",?");
  }
  return list;
}

}  // namespace tracer::explain
