#include "ptrace/stopped_thread.h"

#include <elf.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include "arch/syscall_abi.h"
#include "proc/proc_files.h"

namespace tracer::ptrace {
namespace {

template <typename Address, typename Data>
long ptrace_call(__ptrace_request request, pid_t tid, Address address, Data data) {
  // The kernel takes numbers where glibc's prototype says pointers.
  return ::ptrace(request, tid, reinterpret_cast<void*>(address), reinterpret_cast<void*>(data));
}

Error last_error() {
  return Error{errno, {}};
}

std::chrono::nanoseconds nanoseconds_of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

Status set_register_set(pid_t tid, unsigned long which, std::span<const std::byte> bytes) {
  iovec vector{const_cast<std::byte*>(bytes.data()), bytes.size()};
  if (ptrace_call(PTRACE_SETREGSET, tid, which, &vector) < 0) {
    return last_error();
  }
  return Done{};
}

/// PTRACE_SET_SYSCALL_INFO (linux/ptrace.h, since Linux 6.16) of what `change` makes of the thread's present state;
/// `change` says whether the state is one that can be changed so. False if that did not work.
template <typename Change>
bool change_call_info(pid_t tid, Change change) {
  constexpr auto set_syscall_info = static_cast<__ptrace_request>(0x4212);
  __ptrace_syscall_info info{};
  return ptrace_call(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, &info) > 0 && change(info) &&
         ptrace_call(set_syscall_info, tid, sizeof info, &info) == 0;
}

// linux/ptrace.h, since Linux 6.4.
struct DispatchConfig {
  std::uint64_t mode;
  std::uint64_t selector;
  std::uint64_t offset;
  std::uint64_t len;
};
constexpr auto set_dispatch_config = static_cast<__ptrace_request>(0x4210);
constexpr auto get_dispatch_config = static_cast<__ptrace_request>(0x4211);

/// What a wait for the thread would report, left for that wait; `flags` as for waitid(2). Empty: nothing, or nothing
/// until `patience` signals have come, of which the waiter has one sent at every tick.
std::optional<siginfo_t> next_report(pid_t tid, int flags, unsigned patience = std::numeric_limits<unsigned>::max()) {
  siginfo_t info{};
  int waited = 0;
  do {
    waited = ::waitid(P_PID, static_cast<id_t>(tid), &info, WEXITED | WSTOPPED | WNOWAIT | __WALL | flags);
  } while (waited < 0 && errno == EINTR && --patience != 0);
  return waited == 0 && info.si_pid != 0 ? std::optional(info) : std::nullopt;
}

/// The next report of a thread that is to execute one instruction; empty if it waits for something meanwhile. On a busy
/// machine it may wait for nothing but a processor, and each interruption would set it back.
std::optional<siginfo_t> next_report_of_busy(pid_t tid) {
  constexpr unsigned ticks = 2;
  constexpr unsigned most_looks = 1000;
  std::optional<siginfo_t> report;
  for (unsigned look = 0; !report && look < most_looks; ++look) {
    report = next_report(tid, 0, ticks);
    if (!report && !proc::status_field(tid, "State").starts_with('R')) {
      // It may have stopped between the two looks.
      return next_report(tid, WNOHANG);
    }
  }
  return report;
}

CallState state_of(const __ptrace_syscall_info& info) {
  CallState state;
  state.instruction_pointer = info.instruction_pointer;
  state.stack_pointer = info.stack_pointer;
  const std::uint64_t* args = nullptr;
  std::uint64_t raw_number = 0;
  switch (info.op) {
    case PTRACE_SYSCALL_INFO_ENTRY:
      raw_number = info.entry.nr;
      args = info.entry.args;
      break;
    case PTRACE_SYSCALL_INFO_SECCOMP:
      raw_number = info.seccomp.nr;
      args = info.seccomp.args;
      state.filter_data = static_cast<std::uint16_t>(info.seccomp.ret_data);
      break;
    case PTRACE_SYSCALL_INFO_EXIT:
      state.direction = Direction::exit;
      state.result = info.exit.rval;
      state.is_error = info.exit.is_error != 0;
      break;
    default:
      return state;
  }
  const auto number = arch::call_number_of(info.arch, raw_number);
  if (!number) {
    state.direction = Direction::neither;
    return state;
  }
  state.abi = number->abi;
  if (args != nullptr) {
    state.direction = Direction::entry;
    state.number = number->number;
    std::copy_n(args, state.args.size(), state.args.begin());
  }
  return state;
}

}  // namespace

Stop stop_of(int wait_status) {
  const int signal = WSTOPSIG(wait_status);
  switch (wait_status >> 16) {
    case 0:
      return signal == (SIGTRAP | 0x80) ? Stop{StopKind::syscall, 0} : Stop{StopKind::signal, signal};
    case PTRACE_EVENT_SECCOMP:
      return {StopKind::seccomp, 0};
    case PTRACE_EVENT_STOP:
      return signal == SIGTRAP ? Stop{StopKind::interrupted, 0} : Stop{StopKind::group_stop, signal};
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
      return {StopKind::fork, 0};
    case PTRACE_EVENT_EXEC:
      return {StopKind::exec, 0};
    case PTRACE_EVENT_EXIT:
      return {StopKind::exit, 0};
    default:
      return {StopKind::other, 0};
  }
}

Result<std::optional<Report>> wait_for_any(Waiting waiting, bool with_system_time) {
  rusage usage;
  const int flags = __WALL | (waiting == Waiting::poll ? WNOHANG : 0);
  int status = 0;
  const pid_t tid = ::wait4(-1, &status, flags, with_system_time ? &usage : nullptr);
  if (tid > 0) {
    const auto system_time = with_system_time ? nanoseconds_of(usage.ru_stime) : std::chrono::nanoseconds{};
    return WIFSTOPPED(status) ? std::optional(Report{Stopped(tid), status, system_time})
                              : std::optional(Report{Exited{tid, status}, status, system_time});
  }
  if (tid < 0 && errno == ECHILD) {
    return last_error();
  }
  return std::optional<Report>();
}

Result<std::variant<Stopped, Exited>> wait_for(Running thread) {
  int status = 0;
  pid_t tid = 0;
  do {
    tid = ::wait4(thread.tid(), &status, __WALL, nullptr);
  } while (tid < 0 && errno == EINTR);
  if (tid < 0) {
    return last_error();
  }
  using Waited = std::variant<Stopped, Exited>;
  return WIFSTOPPED(status) ? Waited(Stopped(tid)) : Waited(Exited{tid, status});
}

pid_t Report::tid() const {
  const auto* stopped = std::get_if<Stopped>(&thread);
  return stopped != nullptr ? stopped->tid() : std::get_if<Exited>(&thread)->tid;
}

bool has_report(pid_t tid) {
  return next_report(tid, WNOHANG).has_value();
}

Result<Running> Running::seize(pid_t tid, unsigned options) {
  if (ptrace_call(PTRACE_SEIZE, tid, 0L, static_cast<unsigned long>(options)) < 0) {
    return last_error();
  }
  return Running(tid);
}

bool Running::interrupt() const {
  return ptrace_call(PTRACE_INTERRUPT, tid_, 0L, 0L) == 0;
}

Result<CallState> Stopped::call_state() const {
  __ptrace_syscall_info info;
  if (ptrace_call(PTRACE_GET_SYSCALL_INFO, tid_, sizeof info, &info) <= 0) {
    return last_error();
  }
  return state_of(info);
}

bool Stopped::can_set_call_state() const {
  return change_call_info(tid_, [](const __ptrace_syscall_info& info) { return info.op == PTRACE_SYSCALL_INFO_ENTRY; });
}

Result<CallState> Stopped::call_state_from_registers(Direction expected) const {
  const Result<arch::Registers> got = registers();
  if (!got) {
    return got.error();
  }
  const arch::Registers& set = got.value();
  std::array<std::byte, arch::Registers::call_instruction_size> instruction{};
  const RemoteAddr before(set.instruction_pointer() - instruction.size());
  const auto word = peek(before);
  if (word) {
    std::memcpy(instruction.data(), &*word, instruction.size());
  }
  const arch::CallNumber number = arch::call_number_of(set.call_abi(instruction), set.call_number());
  CallState state;
  state.direction = expected != Direction::unknown ? expected
                    : set.looks_like_entry()       ? Direction::entry
                                                   : Direction::exit;
  state.abi = number.abi;
  state.number = number.number;
  state.instruction_pointer = set.instruction_pointer();
  state.stack_pointer = set.stack_pointer();
  if (state.direction == Direction::entry) {
    for (std::size_t i = 0; i < state.args.size(); ++i) {
      state.args[i] = set.argument(i, number.abi);
    }
  } else {
    constexpr std::int64_t largest_errno = 4095;
    state.result = set.result();
    state.is_error = state.result < 0 && state.result >= -largest_errno;
  }
  return state;
}

Result<arch::Registers> Stopped::registers() const {
  arch::Registers registers;
  const auto buffer = registers.buffer();
  iovec vector{buffer.data(), buffer.size()};
  if (ptrace_call(PTRACE_GETREGSET, tid_, static_cast<unsigned long>(NT_PRSTATUS), &vector) < 0) {
    return last_error();
  }
  if (!registers.resize(vector.iov_len)) {
    return Error{EINVAL, {}};
  }
  return registers;
}

Status Stopped::set_registers(const arch::Registers& registers) const {
  return set_register_set(tid_, NT_PRSTATUS, registers.bytes());
}

Status Stopped::set_registers(const arch::Registers& registers, const arch::Registers& former) const {
  if constexpr (arch::Registers::instruction_pointer_user_offset) {
    arch::Registers moved = former;
    moved.set_instruction_pointer(registers.instruction_pointer());
    if (moved == registers && ptrace_call(PTRACE_POKEUSER, tid_, *arch::Registers::instruction_pointer_user_offset,
                                          registers.instruction_pointer()) == 0) {
      return Done{};
    }
  }
  return set_registers(registers);
}

Status Stopped::set_call_number(std::uint64_t raw_number) const {
  if (change_call_info(tid_, [&](__ptrace_syscall_info& info) {
        // Both have the number in the same place.
        info.entry.nr = raw_number;
        return info.op == PTRACE_SYSCALL_INFO_ENTRY || info.op == PTRACE_SYSCALL_INFO_SECCOMP;
      })) {
    return Done{};
  }
  if constexpr (arch::Registers::call_number_set == 0) {
    Result<arch::Registers> set = registers();
    if (!set) {
      return set.error();
    }
    set.value().set_call_number(raw_number);
    return set_registers(set.value());
  }
  auto number = static_cast<std::int32_t>(raw_number);
  return set_register_set(tid_, arch::Registers::call_number_set, std::as_writable_bytes(std::span(&number, 1)));
}

Status Stopped::set_first_argument(Abi abi, std::uint64_t value) const {
  Result<arch::Registers> set = registers();
  if (!set) {
    return set.error();
  }
  set.value().set_argument(0, abi, value);
  return set_registers(set.value());
}

Status Stopped::set_call_result(std::int64_t value, bool is_error) const {
  if (change_call_info(tid_, [&](__ptrace_syscall_info& info) {
        info.exit.rval = value;
        info.exit.is_error = is_error ? 1 : 0;
        return info.op == PTRACE_SYSCALL_INFO_EXIT;
      })) {
    return Done{};
  }
  Result<arch::Registers> set = registers();
  if (!set) {
    return set.error();
  }
  set.value().set_result(value);
  return set_registers(set.value());
}

std::optional<pid_t> Stopped::event_message() const {
  unsigned long message = 0;
  if (ptrace_call(PTRACE_GETEVENTMSG, tid_, 0L, &message) < 0) {
    return std::nullopt;
  }
  return static_cast<pid_t>(message);
}

int Stopped::event() const {
  siginfo_t info;
  return signal_info(info) && info.si_code > 0 ? info.si_code >> 8 : 0;
}

bool Stopped::signal_info(siginfo_t& info) const {
  return ptrace_call(PTRACE_GETSIGINFO, tid_, 0L, &info) == 0;
}

std::optional<long> Stopped::peek(RemoteAddr address) const {
  return peek_word(tid_, address);
}

std::optional<long> peek_word(pid_t tid, RemoteAddr address) {
  errno = 0;
  const long word = ptrace_call(PTRACE_PEEKDATA, tid, address.value(), 0L);
  if (word == -1 && errno != 0) {
    return std::nullopt;
  }
  return word;
}

Status Stopped::write(RemoteAddr address, std::span<const std::byte> bytes) const {
  for (std::size_t done = 0; done < bytes.size();) {
    const std::uint64_t here = address.value() + done;
    const std::uint64_t aligned = here & ~std::uint64_t{sizeof(long) - 1};
    const auto offset = static_cast<std::size_t>(here - aligned);
    const std::size_t count = std::min(sizeof(long) - offset, bytes.size() - done);
    auto word = peek(RemoteAddr(aligned));
    if (!word) {
      return Error{EFAULT, {}};
    }
    std::memcpy(reinterpret_cast<std::byte*>(&*word) + offset, bytes.data() + done, count);
    if (ptrace_call(PTRACE_POKEDATA, tid_, aligned, *word) < 0) {
      return last_error();
    }
    done += count;
  }
  return Done{};
}

Status Stopped::step() const {
  return step(nullptr, false);
}

Status Stopped::step_through_stops() const {
  return step(&stop_signals_, false);
}

Status Stopped::step_through_filter() const {
  return step(nullptr, true);
}

Status Stopped::step(std::vector<siginfo_t>* delivered, bool through_filter) const {
  const Error another_report{EAGAIN, {}};
  if (next_report(tid_, WNOHANG)) {
    return another_report;
  }
  std::uint64_t mask = 0;
  const bool masked = ptrace_call(PTRACE_GETSIGMASK, tid_, sizeof mask, &mask) == 0;
  std::uint64_t held_back = ~std::uint64_t{0};
  for (const int signal : {SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS}) {
    // If the instruction raises a signal that is blocked, the kernel forgets the handler of that signal.
    held_back &= ~(std::uint64_t{1} << (signal - 1));
  }
  if (masked) {
    ptrace_call(PTRACE_SETSIGMASK, tid_, sizeof mask, &held_back);
  }
  constexpr unsigned most_stops = 1000;  // somebody may stop and continue the process over and over
  unsigned stops = 0;
  unsigned waits = 0;
  int signal = 0;
  bool done = false;
  bool stopped = false;
  bool was_held_up = false;
  bool goes_on = true;
  while (goes_on && ptrace_call(PTRACE_SINGLESTEP, tid_, 0L, static_cast<long>(std::exchange(signal, 0))) == 0) {
    auto report = next_report_of_busy(tid_);
    if (!report) {
      // It waits in a call, or for memory, and perhaps for a thread that only we can resume.
      ++waits;
      ptrace_call(PTRACE_INTERRUPT, tid_, 0L, 0L);
      report = next_report(tid_, 0);
    }
    // Job control has stopped its process, or we have interrupted it: the instruction's own stop is still to come.
    const bool trapped = report && report->si_code == CLD_TRAPPED;
    const bool held_up = trapped && report->si_status >> 8 == PTRACE_EVENT_STOP;
    const bool stop_comes = delivered != nullptr && trapped && report->si_status == SIGSTOP;
    const bool filtered = through_filter && trapped && report->si_status >> 8 == PTRACE_EVENT_SECCOMP;
    was_held_up = was_held_up || held_up;
    done = trapped && report->si_status == SIGTRAP;
    // If it was killed in between, its exit may be the next report, which must be left for the waiter.
    siginfo_t taken{};
    stopped = (held_up || stop_comes || filtered || done) &&
              ::waitid(P_PID, static_cast<id_t>(tid_), &taken, WSTOPPED | WNOHANG | __WALL) == 0 && taken.si_pid != 0;
    goes_on = ((held_up && waits < 2) || filtered) && stopped && ++stops < most_stops;
    if (siginfo_t info; stop_comes && stopped && signal_info(info)) {
      delivered->push_back(info);
      signal = SIGSTOP;
      goes_on = true;
    }
  }
  if (masked) {
    ptrace_call(PTRACE_SETSIGMASK, tid_, sizeof mask, &mask);
  }
  if (was_held_up) {
    ptrace_call(PTRACE_INTERRUPT, tid_, 0L, 0L);  // it will make that stop once more, for whoever waits for it
  }
  if (!stopped) {
    return another_report;
  }
  return done && waits == 0 ? Status(Done{}) : Status(Error{EINTR, {}});
}

Status Stopped::set_dispatch(const std::optional<Dispatch>& dispatch) const {
  DispatchConfig config{};
  if (dispatch) {
    config = {PR_SYS_DISPATCH_ON, dispatch->selector, dispatch->start, dispatch->size};
  }
  return ptrace_call(set_dispatch_config, tid_, sizeof config, &config) < 0 ? Status(last_error()) : Status(Done{});
}

bool Stopped::has_dispatch() const {
  DispatchConfig config{};
  return ptrace_call(get_dispatch_config, tid_, sizeof config, &config) == 0 && config.mode != PR_SYS_DISPATCH_OFF;
}

bool Stopped::is_about_to_stop_for_dispatch() const {
  // The thread's own queue; SIGSYS is one of its first as the kernel raises it for what the thread has just executed.
  constexpr int most = 32;
  std::array<siginfo_t, most> pending{};
  __ptrace_peeksiginfo_args from{0, 0, most};
  const long count = ptrace_call(PTRACE_PEEKSIGINFO, tid_, &from, pending.data());
  return std::any_of(pending.begin(), pending.begin() + std::max(count, 0L), is_dispatch);
}

bool Stopped::blocks(int signal) const {
  std::uint64_t mask = 0;
  return ptrace_call(PTRACE_GETSIGMASK, tid_, sizeof mask, &mask) != 0 || (mask >> (signal - 1) & 1) != 0;
}

std::size_t Stopped::register_set(unsigned which, std::span<std::byte> into) const {
  iovec vector{into.data(), into.size()};
  return ptrace_call(PTRACE_GETREGSET, tid_, static_cast<unsigned long>(which), &vector) < 0 ? 0 : vector.iov_len;
}

Running Stopped::resume(Resume how, int signal) && {
  switch (how) {
    case Resume::to_next_call:
      ptrace_call(PTRACE_SYSCALL, tid_, 0L, static_cast<long>(signal));
      break;
    case Resume::freely:
      ptrace_call(PTRACE_CONT, tid_, 0L, static_cast<long>(signal));
      break;
    case Resume::listening:
      ptrace_call(PTRACE_LISTEN, tid_, 0L, 0L);
      break;
  }
  return Running(tid_);
}

void Stopped::detach(int signal) && {
  ptrace_call(PTRACE_DETACH, tid_, 0L, static_cast<long>(signal));
}

bool is_dispatch(const siginfo_t& info) {
  constexpr int by_dispatch = 2;  // SYS_USER_DISPATCH, asm-generic/siginfo.h
  return info.si_signo == SIGSYS && info.si_code == by_dispatch;
}

bool can_set_dispatch() {
  const pid_t tracer = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (::getppid() == tracer) {
      ::pause();
    }
    ::_exit(0);  // the tracer was killed a moment ago
  }
  bool works = true;  // where no process can be attached to, its own failure says why
  if (auto running = child > 0 ? Running::seize(child, PTRACE_O_EXITKILL) : Result<Running>(last_error())) {
    running.value().interrupt();
    if (auto waited = wait_for(std::move(running).value())) {
      const auto* stopped = std::get_if<Stopped>(&waited.value());
      works = stopped != nullptr && stopped->set_dispatch(Dispatch{1, 1, 0}).ok();
    }
  }
  if (child > 0) {
    kill_and_collect(child);
  }
  return works;
}

void kill_and_collect(pid_t pid) {
  ::kill(pid, SIGKILL);
  int status = 0;
  for (bool more = true; more;) {
    const pid_t waited = ::wait4(pid, &status, __WALL, nullptr);
    more = waited < 0 ? errno == EINTR : WIFSTOPPED(status);
  }
}

}  // namespace tracer::ptrace
