// Runs the ptrace engine and writes one plain line for each event: what the live tests look at.
//
//   event_log [-f] [-k] [-q] [-s] [-c] [-n NUMBER]... [-L LIMIT] [-p PID]... [PROGRAM ARG...]
//     -k  kill on exit     -q  no events, only the end     -s  strict messages     -c  system time of calls
//     -n  a wanted call of the native ABI                  -L  detach all after LIMIT entries
//     -F  no seccomp filter                                -m  the text that an execve's first argument points to
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "arch/syscall_abi.h"
#include "base/unique_fd.h"
#include "base/write_all.h"
#include "ptrace/engine.h"

namespace tracer {
namespace {

class EventLog final : public trace::EventHandler {
 public:
  EventLog(bool quiet, long limit, bool read_text) : quiet_(quiet), limit_(limit), read_text_(read_text) {}

  trace::Verdict handle(const trace::Event& event, const trace::Memory& memory) override {
    ++events_;
    bool over = false;
    if (std::holds_alternative<trace::SyscallEnter>(event.what)) {
      ++entries_;
      over = limit_ != 0 && entries_ >= limit_;
      const auto& call = std::get<trace::SyscallEnter>(event.what);
      if (read_text_ && arch::is_execve(event.abi, call.number)) {
        std::array<char, 256> text{};
        const std::size_t size = memory.read(RemoteAddr(call.args[0]), std::as_writable_bytes(std::span(text)));
        std::printf("%d text %.*s\n", event.tid, static_cast<int>(size), text.data());
      }
    }
    if (!quiet_) {
      std::printf("%d ", event.tid);
      std::visit([&](const auto& what) { print(event, what); }, event.what);
      std::putchar('\n');
      std::fflush(stdout);  // the tracee may write to the same pipe: whole lines only
    }
    return over ? trace::Verdict::detach_all : trace::Verdict::go_on;
  }

  void idle() override {}

  void summarize() const { std::printf("# %ld events, %ld entries\n", events_, entries_); }

 private:
  static void print(const trace::Event& event, const trace::SyscallEnter& call) {
    std::printf("enter %s %llu", abi_names[index_of(event.abi)].data(), static_cast<unsigned long long>(call.number));
    for (const std::uint64_t arg : call.args) {
      std::printf(" %#llx", static_cast<unsigned long long>(arg));
    }
  }
  static void print(const trace::Event&, const trace::ProbeHit& hit) {
    std::printf("probe %s:%s", hit.provider->c_str(), hit.name->c_str());
  }
  static void print(const trace::Event& event, const trace::SyscallExit& call) {
    std::printf("exit %s %lld%s", abi_names[index_of(event.abi)].data(), static_cast<long long>(call.value),
                call.is_error ? " error" : "");
    if (call.cpu_time.count() != 0) {
      std::printf(" cpu %lld", static_cast<long long>(call.cpu_time.count()));
    }
  }
  static void print(const trace::Event&, const trace::SyscallLost&) { std::printf("lost"); }
  static void print(const trace::Event&, const trace::SignalStop& stop) {
    siginfo_t info{};
    std::memcpy(&info, stop.siginfo.data(), stop.siginfo.size());
    std::printf("signal %d code %d", stop.signal, info.si_code);
  }
  static void print(const trace::Event&, const trace::GroupStop& stop) { std::printf("group-stop %d", stop.signal); }
  static void print(const trace::Event&, const trace::Exec& exec) { std::printf("exec %d", exec.former_tid); }
  static void print(const trace::Event&, const trace::Fork& fork) {
    std::printf("%s %d", fork.is_thread ? "thread" : "fork", fork.child);
  }
  static void print(const trace::Event&, const trace::Attached& attached) {
    std::printf("attached%s %u %.*s", attached.by_request ? " by-request" : "", attached.threads,
                static_cast<int>(attached.command.size()), attached.command.data());
  }
  static void print(const trace::Event&, const trace::LibraryEnter& call) {
    std::printf("call %s", call.function->name.c_str());
  }
  static void print(const trace::Event&, const trace::LibraryCalls& calls) {
    std::printf("%s calls of %s", std::to_string(calls.count).c_str(), calls.function->name.c_str());
  }
  static void print(const trace::Event&, const trace::LibraryExit& call) {
    std::printf("return %s", call.function->name.c_str());
  }
  static void print(const trace::Event&, const trace::Detached&) { std::printf("detached"); }
  static void print(const trace::Event&, const trace::Exited& exited) {
    std::printf("exited %#x", static_cast<unsigned>(exited.status));
  }

  bool quiet_;
  long limit_;
  bool read_text_;
  long events_ = 0;
  long entries_ = 0;
};

ssize_t write_whole(void* output, const char* bytes, std::size_t size) {
  return write_all(static_cast<UniqueFd*>(output)->get(), {bytes, size}) == 0 ? static_cast<ssize_t>(size) : -1;
}

int run(int argc, char** argv) {
  // stdio's own stream drops what it holds when a signal interrupts a write to a full pipe, as the engine's timer does.
  // The engine leaves standard output to the program.
  UniqueFd output(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  stdout = ::fopencookie(&output, "w", {nullptr, write_whole, nullptr, nullptr});
  process::EngineOptions options;
  bool quiet = false;
  long limit = 0;
  bool read_text = false;
  for (int option = 0; (option = ::getopt(argc, argv, "+fFkmqscn:p:L:D:I:")) != -1;) {
    switch (option) {
      case 'f':
        options.follow_forks = true;
        break;
      case 'F':
        options.no_filter_because = "the test says so";
        break;
      case 'k':
        options.kill_on_exit = true;
        break;
      case 'm':
        read_text = true;
        break;
      case 'q':
        quiet = true;
        break;
      case 's':
        options.strict = true;
        break;
      case 'c':
        options.cpu_time = true;
        break;
      case 'n':
        if (!options.wanted) {
          options.wanted.emplace();
        }
        (*options.wanted)[index_of(arch::native_abi())].set(std::strtoul(optarg, nullptr, 10));
        break;
      case 'p':
        options.attach.push_back(std::atoi(optarg));
        break;
      case 'L':
        limit = std::atol(optarg);
        options.no_filter_because = "the test says so";
        break;
      case 'I':
        options.interruptible = static_cast<process::Interruptible>(std::atoi(optarg) - 1);
        break;
      case 'D':
        options.launch.emplace().daemonize = static_cast<process::Daemonize>(std::atoi(optarg));
        break;
      default:
        return 2;
    }
  }
  if (optind < argc) {
    const auto path = process::find_program(argv[optind]);
    if (!path) {
      std::fprintf(stderr, "event_log: %s\n", path.error().message.c_str());
      return 2;
    }
    if (!options.launch) {
      options.launch.emplace();
    }
    options.launch->path = path.value();
    options.launch->args.assign(argv + optind, argv + argc);
    options.launch->message_prefix = "event_log: ";
  }
  const auto complain = [](const std::string& message) { std::fprintf(stderr, "event_log: %s\n", message.c_str()); };
  auto engine = ptrace::make_ptrace_engine(std::move(options), complain);
  if (!engine) {
    if (!engine.error().message.empty()) {
      complain(engine.error().message);
    }
    return 1;
  }
  EventLog log(quiet, limit, read_text);
  const auto end = engine.value()->run(log);
  if (!end) {
    complain(end.error().message);
    return 1;
  }
  log.summarize();
  if (end.value().exec_error != 0) {
    std::printf("# exec error %d\n", end.value().exec_error);
  }
  if (end.value().interrupted_by_signal) {
    std::printf("# interrupted by %d\n", end.value().interrupting_signal);
  }
  if (end.value().program_status) {
    std::printf("# status %#x\n", static_cast<unsigned>(*end.value().program_status));
  }
  std::fflush(stdout);
  engine.value()->finish(0);
  return 0;
}

}  // namespace
}  // namespace tracer

int main(int argc, char** argv) {
  return tracer::run(argc, argv);
}
