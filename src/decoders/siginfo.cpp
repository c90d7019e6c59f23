// siginfo_t, decoded as sigaction(2) documents it.
#include <algorithm>
#include <array>

#include "decoders/decoders.h"
#include "decoders/helpers.h"
#include "format/error_names.h"
#include "spec/signal_names.h"

namespace tracer::decoders {
namespace {

using spec::Style;

// si_code values that any signal can have (asm-generic/siginfo.h).
constexpr std::int32_t si_user = 0;
constexpr std::int32_t si_kernel = 0x80;
constexpr std::int32_t si_timer = -2;
constexpr std::int32_t si_sigio = -5;
constexpr std::int32_t si_tkill = -6;

constexpr int sigill = 4, sigtrap = 5, sigbus = 7, sigfpe = 8, sigsegv = 11, sigchld = 17, sigio = 29, sigsys = 31;

std::string_view general_code(std::int32_t code) {
  switch (code) {
    case si_user:
      return "SI_USER";
    case si_kernel:
      return "SI_KERNEL";
    case -1:
      return "SI_QUEUE";
    case si_timer:
      return "SI_TIMER";
    case -3:
      return "SI_MESGQ";
    case -4:
      return "SI_ASYNCIO";
    case si_sigio:
      return "SI_SIGIO";
    case si_tkill:
      return "SI_TKILL";
    case -7:
      return "SI_DETHREAD";
    case -60:
      return "SI_ASYNCNL";
    default:
      return {};
  }
}

using Codes = std::span<const std::string_view>;

/// Returns the names of the codes 1, 2, … of one signal.
Codes codes_of(int signal) {
  static constexpr std::string_view ill[] = {"ILL_ILLOPC", "ILL_ILLOPN", "ILL_ILLADR", "ILL_ILLTRP",  "ILL_PRVOPC",
                                             "ILL_PRVREG", "ILL_COPROC", "ILL_BADSTK", "ILL_BADIADDR"};
  static constexpr std::string_view trap[] = {"TRAP_BRKPT",  "TRAP_TRACE", "TRAP_BRANCH",
                                              "TRAP_HWBKPT", "TRAP_UNK",   "TRAP_PERF"};
  static constexpr std::string_view bus[] = {"BUS_ADRALN", "BUS_ADRERR", "BUS_OBJERR", "BUS_MCEERR_AR",
                                             "BUS_MCEERR_AO"};
  static constexpr std::string_view fpe[] = {"FPE_INTDIV", "FPE_INTOVF", "FPE_FLTDIV", "FPE_FLTOVF", "FPE_FLTUND",
                                             "FPE_FLTRES", "FPE_FLTINV", "FPE_FLTSUB", "",           "",
                                             "",           "",           "",           "FPE_FLTUNK", "FPE_CONDTRAP"};
  static constexpr std::string_view segv[] = {"SEGV_MAPERR",  "SEGV_ACCERR",  "SEGV_BNDERR",  "SEGV_PKUERR",
                                              "SEGV_ACCADI",  "SEGV_ADIDERR", "SEGV_ADIPERR", "SEGV_MTEAERR",
                                              "SEGV_MTESERR", "SEGV_CPERR"};
  static constexpr std::string_view chld[] = {"CLD_EXITED",  "CLD_KILLED",  "CLD_DUMPED",
                                              "CLD_TRAPPED", "CLD_STOPPED", "CLD_CONTINUED"};
  static constexpr std::string_view io[] = {"POLL_IN", "POLL_OUT", "POLL_MSG", "POLL_ERR", "POLL_PRI", "POLL_HUP"};
  static constexpr std::string_view sys[] = {"SYS_SECCOMP", "SYS_USER_DISPATCH"};
  switch (signal) {
    case sigill:
      return ill;
    case sigtrap:
      return trap;
    case sigbus:
      return bus;
    case sigfpe:
      return fpe;
    case sigsegv:
      return segv;
    case sigchld:
      return chld;
    case sigio:
      return io;
    case sigsys:
      return sys;
    default:
      return {};
  }
}

std::string_view code_name(int signal, std::int32_t code) {
  const Codes codes = codes_of(signal);
  if (code > 0 && static_cast<std::size_t>(code) <= codes.size()) {
    return codes[static_cast<std::size_t>(code) - 1];
  }
  return general_code(code);
}

/// Emits the fields of a siginfo_t; signal and code select the members of the union.
class Printer {
 public:
  Printer(CustomContext& context, std::span<const std::byte> raw)
      : context_(context),
        raw_(raw),
        word_(word_size(context.entry().abi)),
        base_(word_ == 8 ? 16 : 12),
        signal_(static_cast<int>(number_at(raw, 0, 4))),
        code_(static_cast<std::int32_t>(number_at(raw, 8, 4))) {}

  void print() {
    context_.out().begin_struct();
    if (signal_ == 0) {
      context_.out().end_struct();  // waitid(2) with WNOHANG found no child
      return;
    }
    field("si_signo", signed_at(0), Style::signal, true);
    context_.out().begin_field("si_code", "int");
    if (const auto name = code_name(signal_, code_); !name.empty()) {
      context_.named(name, static_cast<std::uint32_t>(code_));
    } else {
      context_.number(static_cast<std::uint32_t>(code_), Style::hex, 4, false);
    }
    if (const auto error = number_at(raw_, 4, 4); error != 0) {
      field("si_errno", error, Style::errno_value, false);
    }
    if (code_ <= 0) {
      sent_fields();
    } else {
      kernel_fields();
    }
    context_.out().end_struct();
  }

 private:
  /// Emits the fields of a signal that a process, a timer or a message queue sent.
  void sent_fields() {
    if (code_ == si_timer) {
      field("si_timerid", at(0, 4), Style::hex, false);
      field("si_overrun", at(4, 4), Style::number, true);
      field("si_int", at(8, 4), Style::number, true);
      field("si_ptr", at(8, word_), Style::address, false);
      return;
    }
    if (code_ == si_sigio) {
      poll_fields();
      return;
    }
    sender_fields();
    if (code_ != si_user && code_ != si_tkill) {
      value_fields(8);
    }
  }

  /// Emits the fields of a signal that the kernel generated.
  void kernel_fields() {
    switch (signal_) {
      case sigchld:
        child_fields();
        break;
      case sigill:
      case sigtrap:
      case sigbus:
      case sigfpe:
      case sigsegv:
        fault_fields();
        break;
      case sigio:
        if (code_ <= 6) {
          poll_fields();
        }
        break;
      case sigsys:
        field("si_call_addr", at(0, word_), Style::address, false);
        refused_call(at(word_, 4), at(word_ + 4, 4));
        break;
      default:
        if (at(0, 8) != 0) {
          sender_fields();
        }
        value_fields(8);
    }
  }

  /// Emits a call number and its architecture (AUDIT_ARCH_… of linux/audit.h). The ABI of the siginfo does not
  /// determine the architecture, because a 64-bit kernel reports calls of 32-bit programs in its own layout.
  void refused_call(std::uint64_t number, std::uint64_t arch) {
    struct Known {
      std::uint64_t bits;
      Abi abi;
    };
    static constexpr std::array<Known, 4> known = {
        {{0xc000003e, Abi::x86_64}, {0x40000003, Abi::i386}, {0xc00000b7, Abi::aarch64}, {0x40000028, Abi::arm}}};
    const auto* found = std::find_if(known.begin(), known.end(), [&](const Known& k) { return k.bits == arch; });
    const auto name = found == known.end() ? std::string_view{} : context_.call_numbered(found->abi, number);
    if (name.empty()) {
      field("si_syscall", number, Style::number, false);
    } else {
      TextBuffer text;
      text.append("__NR_");
      text.append(name);
      context_.out().begin_field("si_syscall", "int");
      context_.named(text.view(), number, Style::number);
    }
    context_.out().begin_field("si_arch", "audit_arch");
    if (const auto machine = context_.constant_name("audit_arch", arch); !machine.empty()) {
      context_.named(machine, arch);
    } else {
      context_.number(arch, Style::hex, 4, false);
      if (context_.out().constant_form() != format::ConstantForm::raw) {
        context_.out().comment("AUDIT_ARCH_???");
      }
    }
  }

  void sender_fields() {
    field("si_pid", at(0, 4), Style::tgid, true);
    field("si_uid", at(4, 4), Style::uid, false);
  }

  void value_fields(std::size_t offset) {
    if (at(offset, word_) == 0) {
      return;
    }
    field("si_int", at(offset, 4), Style::number, true);
    field("si_ptr", at(offset, word_), Style::address, false);
  }

  void poll_fields() {
    field("si_band", at(0, word_), Style::number, true, word_);
    field("si_fd", at(word_, 4), Style::fd, true);
  }

  void child_fields() {
    sender_fields();
    const bool exited = code_ == 1;
    const auto status = at(8, 4);
    field("si_status", status, exited ? Style::number : Style::signal, true);
    // clock_t is a long of the kernel and aligned as such, except on x32, where it has 64 bits but 32-bit alignment.
    const std::size_t times = word_ == 8 ? 16 : 12;
    const auto width = register_size(context_.entry().abi);
    field("si_utime", at(times, width), Style::clock_ticks, false, width);
    field("si_stime", at(times + width, width), Style::clock_ticks, false, width);
  }

  void fault_fields() {
    constexpr std::int32_t bus_mceerr_ar = 4, bus_mceerr_ao = 5, segv_bnderr = 3, segv_pkuerr = 4;
    field("si_addr", at(0, word_), Style::address, false);
    if (signal_ == sigbus && (code_ == bus_mceerr_ar || code_ == bus_mceerr_ao)) {
      field("si_addr_lsb", at(word_, 2), Style::hex, false);
    }
    // A short, padded to the size of a pointer, precedes these fields.
    if (signal_ == sigsegv && code_ == segv_bnderr) {
      field("si_lower", at(2 * word_, word_), Style::address, false);
      field("si_upper", at(3 * word_, word_), Style::address, false);
    }
    if (signal_ == sigsegv && code_ == segv_pkuerr) {
      field("si_pkey", at(2 * word_, 4), Style::number, false);
    }
  }

  [[nodiscard]] std::uint64_t at(std::size_t offset, unsigned width) const {
    return number_at(raw_, base_ + offset, width);
  }
  [[nodiscard]] std::uint64_t signed_at(std::size_t offset) const { return number_at(raw_, offset, 4); }

  void field(std::string_view name, std::uint64_t bits, Style style, bool is_signed, unsigned width = 0) {
    width = width != 0 ? width : is_signed ? 4 : 8;
    context_.out().begin_field(name, spec::name_of(style));
    if (is_signed && width == 4) {
      bits = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(bits)});
    }
    context_.number(bits, style, width, is_signed);
  }

  CustomContext& context_;
  std::span<const std::byte> raw_;
  unsigned word_;
  std::size_t base_;
  int signal_;
  std::int32_t code_;
};

}  // namespace

bool siginfo(decode::CustomContext& context) {
  std::array<std::byte, 128> raw{};  // SI_MAX_SIZE
  if (!context.copy(raw)) {
    return false;
  }
  Printer(context, raw).print();
  return true;
}

}  // namespace tracer::decoders
