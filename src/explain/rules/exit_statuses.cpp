// What exit statuses mean, as manuals say, of programs that an option keeps from printing why.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "explain/rules/rules.h"

namespace tracer::explain::rules {

namespace {

struct Status {
  std::string_view programs;
  int status;
  std::string_view cause;
  std::string_view remedy;
};

constexpr std::string_view without_silence_curl = "curl -S shows the error (-sS instead of -s)";
constexpr std::string_view without_silence_wget = "wget -nv shows the error (instead of -q)";

constexpr std::array<Status, 16> statuses = {{
    {"curl", 3, "the address (URL) is malformed", without_silence_curl},
    {"curl", 5, "the name of the proxy was not resolved", without_silence_curl},
    {"curl", 6, "the name of the host was not resolved", without_silence_curl},
    {"curl", 7, "the server could not be connected to", without_silence_curl},
    {"curl", 22, "the server answered with an error of HTTP (400 or more)", without_silence_curl},
    {"curl", 28, "the server did not answer in time", without_silence_curl},
    {"curl", 35, "TLS could not be set up: the other end may be no TLS server", without_silence_curl},
    {"curl", 52, "the server closed the connection and did not answer", without_silence_curl},
    {"curl", 56, "the connection broke while it received", without_silence_curl},
    {"curl", 60, "the certificate of the server cannot be verified", without_silence_curl},
    {"curl", 67, "the server did not accept the user or the password", without_silence_curl},
    {"wget", 4, "the network failed: a name, a connection or its time limit", without_silence_wget},
    {"wget", 5, "the certificate of the server cannot be verified", without_silence_wget},
    {"wget", 6, "the server did not accept the user or the password", without_silence_wget},
    {"wget", 8, "the server answered with an error", without_silence_wget},
    {"ssh", 255, "ssh did not get as far as a command at the other end", "ssh without -q shows the error"},
}};

std::optional<Finding> silent_status(const Case& facts) {
  const auto& exit = facts.process.exit;
  if (!exit || exit->by_signal || !facts.messages.empty()) {
    return std::nullopt;
  }
  const auto* at = std::find_if(statuses.begin(), statuses.end(), [&](const Status& one) {
    return one.status == exit->status && is_listed(facts.process.name(), one.programs);
  });
  if (at == statuses.end()) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = fmt::format("{} (that is what status {} of {} means)", at->cause, at->status, facts.process.name());
  finding.remedy = at->remedy;
  finding.describes_exit = true;
  return finding;
}

constexpr Rule exit_statuses_table[] = {
    {"silent-status", 10, "", "", "", "exit", silent_status},
};

}  // namespace

std::span<const Rule> exit_status_rules() {
  return exit_statuses_table;
}

}  // namespace tracer::explain::rules
