#include "spec/signal_names.h"

#include <array>

namespace tracer::spec {

std::string_view signal_name(std::uint64_t number) {
  static constexpr std::array<std::string_view, max_signal + 1> names = {
      "",         "SIGHUP",   "SIGINT",   "SIGQUIT",  "SIGILL",   "SIGTRAP",  "SIGABRT",  "SIGBUS",    "SIGFPE",
      "SIGKILL",  "SIGUSR1",  "SIGSEGV",  "SIGUSR2",  "SIGPIPE",  "SIGALRM",  "SIGTERM",  "SIGSTKFLT", "SIGCHLD",
      "SIGCONT",  "SIGSTOP",  "SIGTSTP",  "SIGTTIN",  "SIGTTOU",  "SIGURG",   "SIGXCPU",  "SIGXFSZ",   "SIGVTALRM",
      "SIGPROF",  "SIGWINCH", "SIGIO",    "SIGPWR",   "SIGSYS",   "SIGRTMIN", "SIGRT_1",  "SIGRT_2",   "SIGRT_3",
      "SIGRT_4",  "SIGRT_5",  "SIGRT_6",  "SIGRT_7",  "SIGRT_8",  "SIGRT_9",  "SIGRT_10", "SIGRT_11",  "SIGRT_12",
      "SIGRT_13", "SIGRT_14", "SIGRT_15", "SIGRT_16", "SIGRT_17", "SIGRT_18", "SIGRT_19", "SIGRT_20",  "SIGRT_21",
      "SIGRT_22", "SIGRT_23", "SIGRT_24", "SIGRT_25", "SIGRT_26", "SIGRT_27", "SIGRT_28", "SIGRT_29",  "SIGRT_30",
      "SIGRT_31", "SIGRT_32"};
  return number < names.size() ? names[number] : std::string_view{};
}

}  // namespace tracer::spec
