// Feeds the decoder with random calls and hostile memory.
//
//   fuzz_decoder [--seconds N] [--seed S]     N seconds of calls (5); the seed is printed
//   fuzz_decoder --seed S --call C            only call number C of that seed, and prints it
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "fuzz_call.h"

namespace {

using namespace std::chrono_literals;

constexpr time_t most_seconds = 20;  // of processor time for one call, under sanitizers

// For the handler below, which can get at nothing else.
volatile std::sig_atomic_t current_call = 0;
unsigned long long current_seed = 0;

void tell_and_die(int signal) {
  char line[120];
  const int length = std::snprintf(line, sizeof line, "\nsignal %d: --seed %llu --call %ld shows it again\n", signal,
                                   current_seed, static_cast<long>(current_call));
  static_cast<void>(!::write(STDERR_FILENO, line, static_cast<std::size_t>(length)));
  ::_exit(1);
}

struct Arguments {
  std::chrono::seconds time = 5s;
  unsigned long long seed = 1;
  long only = -1;
};

Arguments parse(int argc, char** argv) {
  Arguments result;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    const unsigned long long value = std::strtoull(argv[i + 1], nullptr, 10);
    if (option == "--seconds") {
      result.time = std::chrono::seconds(value);
    } else if (option == "--seed") {
      result.seed = value;
    } else if (option == "--call") {
      result.only = static_cast<long>(value);
    } else {
      std::fprintf(stderr, "usage: fuzz_decoder [--seconds N] [--seed S] [--call C]\n");
      std::exit(2);
    }
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  current_seed = arguments.seed;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPROF}) {
    ::signal(signal, tell_and_die);
  }
  tracer::fuzz::CallFuzzer fuzzer(tracer::spec::builtin_tables());
  const auto end = std::chrono::steady_clock::now() + arguments.time;
  long call = arguments.only < 0 ? 0 : arguments.only;
  for (;; ++call) {
    current_call = static_cast<std::sig_atomic_t>(call);
    const itimerval limit{{}, {most_seconds, 0}};
    ::setitimer(ITIMER_PROF, &limit, nullptr);
    tracer::fuzz::RandomSource source(arguments.seed * 1'000'003 + static_cast<unsigned long long>(call));
    const tracer::fuzz::Complaint complaint = fuzzer.one_call(source);
    if (arguments.only >= 0 || !complaint.empty()) {
      const std::string_view text = fuzzer.text();
      std::printf("%.*s\n", static_cast<int>(text.size()), text.data());
    }
    if (!complaint.empty()) {
      std::printf("%.2000s\n--seed %llu --call %ld shows it again\n", complaint.c_str(), arguments.seed, call);
      return 1;
    }
    if (arguments.only >= 0 || std::chrono::steady_clock::now() >= end) {
      break;
    }
  }
  std::printf("%ld calls, seed %llu\n", call, arguments.seed);
}
