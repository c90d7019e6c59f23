// Processes that a signal killed.
#include <elf.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/read_file.h"
#include "explain/file_header.h"
#include "explain/owners.h"
#include "explain/ranking.h"
#include "explain/rules/rules.h"
#include "explain/shell_word.h"
#include "explain/socket_address.h"
#include "proc/tracee_file.h"

namespace tracer::explain::rules {

namespace {

std::uint64_t address_in(const Value& info, std::string_view member) {
  return std::strtoull(to_text(info[member]).c_str(), nullptr, 16);
}

std::string format_address(std::uint64_t address) {
  return fmt::format("{:#x}", address);
}

const proc::MappedRange* mapping_of(const Crash& crash, std::uint64_t address) {
  const auto at = std::find_if(crash.mappings.begin(), crash.mappings.end(),
                               [&](const proc::MappedRange& mapping) { return mapping.contains(address); });
  return at == crash.mappings.end() ? nullptr : &*at;
}

std::string to_text(const Frame& frame) {
  std::string text = frame.function.empty() ? "a function without a name" : printable(frame.function);
  if (!frame.source.empty()) {
    text += fmt::format(" ({}:{})", printable(frame.source), frame.line);
  }
  return text + " in " + printable(frame.file);
}

/// True for the dynamic loader, whose functions usually have no symbols.
bool is_in_loader(const Frame& frame) {
  return base_name(frame.file).compare(0, 3, "ld-") == 0 || base_name(frame.file).compare(0, 5, "ld.so") == 0;
}

/// Adds the named functions of the stack, up to main, to what was looked at.
void add_stack(Finding& finding, const Case& facts) {
  constexpr std::size_t max_functions = 8;
  std::vector<std::string> functions;
  if (!facts.process.crash) {
    return;
  }
  for (const Frame& frame : facts.process.crash->signal.stack) {
    const std::string name = is_in_loader(frame) ? "the loader" : printable(frame.function);
    if (functions.size() < max_functions && !name.empty() && (functions.empty() || functions.back() != name)) {
      functions.push_back(name);
    }
    if (name == "main") {
      break;
    }
  }
  if (!functions.empty()) {
    finding.looked_at.push_back("stack: " + join(functions, ", called by "));
  }
}

bool has_frame(const Crash& crash, std::string_view names) {
  return std::any_of(crash.signal.stack.begin(), crash.signal.stack.end(),
                     [&](const Frame& frame) { return is_listed(frame.function, names); });
}

/// Returns the function of the crash, or "libc.so.6 at 0x8a3c1".
std::string place(const Crash& crash) {
  if (!crash.signal.stack.empty() && !crash.signal.stack.front().function.empty()) {
    return to_text(crash.signal.stack.front());
  }
  if (crash.signal.instruction_pointer == 0 && crash.mappings.empty()) {
    return crash.signal.stack.empty() ? "a place that the trace does not show" : to_text(crash.signal.stack.front());
  }
  const proc::MappedRange* mapping = mapping_of(crash, crash.signal.instruction_pointer);
  if (mapping == nullptr) {
    return format_address(crash.signal.instruction_pointer);
  }
  const std::uint64_t offset = mapping->offset_of(crash.signal.instruction_pointer);
  return (mapping->path.empty() ? "memory without a file" : mapping->path) + " at " + format_address(offset);
}

const Crash* crash_of(const Case& facts) {
  const auto& crash = facts.process.crash;
  return crash && facts.process.exit && crash->signal.name == facts.process.exit->signal ? &*crash : nullptr;
}

// ---------------------------------------------------------------------------------------------- SIGSEGV

std::string what_is_at(const Crash& crash, std::uint64_t fault) {
  constexpr std::uint64_t lowest_mapping = 0x10000;
  if (fault < lowest_mapping) {
    return ": a null pointer";
  }
  const proc::MappedRange* mapping = mapping_of(crash, fault);
  if (mapping == nullptr) {  // the mappings may be incomplete after the exit; si_code is reliable
    return to_text(crash.signal.info["si_code"]) == "SEGV_ACCERR" ? ", which may not be used so"
                                                                  : ", where no memory is";
  }
  return " in " + mapping->protection + " memory" +
         (mapping->protection.starts_with("r-x")   ? ", which may not be written"
          : mapping->protection.starts_with("r--") ? ", which may only be read"
                                                   : "");
}

bool is_stack_overflow(const Case& facts, const Crash& crash, std::uint64_t fault) {
  const std::uint64_t pointer = crash.stack_pointer;
  constexpr std::uint64_t reach = 0x20000;  // a large frame, or a probe of one
  const bool near_pointer = pointer != 0 && fault + reach > pointer && fault < pointer + 0x1000;
  for (const proc::MappedRange& mapping : crash.mappings) {
    if (mapping.path == "[stack]" && fault < mapping.start && (near_pointer || fault + 0x100000 > mapping.start)) {
      return true;
    }
    // A guard page precedes the stack of a thread.
    if (mapping.contains(fault) && mapping.protection.compare(0, 3, "---") == 0 && near_pointer) {
      return true;
    }
  }
  static_cast<void>(facts);
  return false;
}

std::optional<Finding> segmentation_fault(const Case& facts) {
  const Crash* crash = crash_of(facts);
  Finding finding;
  if (crash == nullptr) {
    finding.cause = "it crashed with " + facts.process.exit->signal;
    finding.remedy = "gdb " + shell_word(facts.process.executable()) + " shows where";
    return finding;
  }
  if (facts.process.exit->signal == "SIGFPE") {
    const std::string code = to_text(crash->signal.info["si_code"]);
    finding.rule = "arithmetic-error";
    finding.cause = (code == "FPE_INTDIV"   ? "it divided an integer by zero"
                     : code == "FPE_INTOVF" ? "an integer overflowed in a division"
                                            : "an arithmetic operation failed") +
                    std::string(" (SIGFPE) in ") + place(*crash);
    add_stack(finding, facts);
    finding.remedy = "gdb " + shell_word(facts.process.executable()) + " shows where; a bug of the program";
    return finding;
  }
  const std::uint64_t fault = address_in(crash->signal.info, "si_addr");
  const bool general_protection = to_text(crash->signal.info["si_code"]) == "SI_KERNEL";
  if (!general_protection && is_stack_overflow(facts, *crash, fault)) {
    finding.rule = "stack-overflow";
    const auto limit = facts.snapshot() ? facts.snapshot()->limit("Max stack size") : std::nullopt;
    finding.cause = "its stack overflowed: too deep a recursion, or too large a variable on the stack";
    finding.looked_at.push_back("the address " + format_address(fault) + " is just below the stack" +
                                (limit ? ", which may grow to " + format_bytes(*limit) : std::string()));
    add_stack(finding, facts);
    finding.remedy = "gdb's backtrace shows the recursion; ulimit -s with a larger number gives it more stack";
    finding.weight = 10;
    return finding;
  }
  const proc::MappedRange* code = mapping_of(*crash, crash->signal.instruction_pointer);
  const bool in_library = code != nullptr && is_library_name(code->path);
  // Libraries were loaded last, so main has not run yet.
  const std::vector<Frame>& stack = crash->signal.stack;
  const bool by_loader =
      std::any_of(stack.begin(), stack.end(), is_in_loader) && !has_frame(*crash, "main __libc_start_main");
  const bool before_main =
      by_loader ||
      (in_library && !facts.process.opened.empty() && is_library_name(facts.process.opened.back().path) &&
       facts.messages.empty() && base_name(code->path).compare(0, 4, "libc") != 0 && crash->signal.stack.empty());
  finding.rule = before_main ? "crash-before-main" : "";
  finding.cause =
      before_main
          ? "it crashed before main began, in " + (code == nullptr ? place(*crash) : "the library " + code->path) +
                " (a constructor of it, most likely)"
          : "it crashed (" + facts.process.exit->signal + ") in " + place(*crash) +
                (general_protection ? std::string()
                                    : ": it used the address " + format_address(fault) + what_is_at(*crash, fault));
  if (general_protection) {
    finding.looked_at.emplace_back("the processor refused an instruction or an address that cannot exist");
  } else if (before_main) {
    finding.looked_at.push_back("it used the address " + format_address(fault) + what_is_at(*crash, fault));
  }
  finding.looked_at.push_back("the instruction is in " + place(*crash));
  add_stack(finding, facts);
  finding.remedy = before_main ? "install another version of that library, or start without it"
                               : "gdb " + shell_word(facts.process.executable()) + " shows where; a bug of the program";
  return finding;
}

// ---------------------------------------------------------------------------------------------- SIGILL

/// Returns the instruction set extension of an x86-64 instruction by its first bytes (Intel SDM volume 2, chapter 2).
std::string extension_of(const std::vector<unsigned char>& code) {
  if (code.size() < 4) {
    return {};
  }
  std::size_t at = 0;
  while (at < 3 && (code[at] == 0x66 || code[at] == 0xf2 || code[at] == 0xf3 || (code[at] & 0xf0) == 0x40)) {
    ++at;
  }
  if (code[0] == 0x62) {
    return "AVX-512";
  }
  if (code[0] == 0xc4 || code[0] == 0xc5) {
    return (code[0] == 0xc4 && (code[2] & 4) != 0) || (code[1] & 4) != 0 ? "AVX or AVX2 (256 bits)" : "AVX";
  }
  if (code[at] == 0x0f && at + 1 < code.size() && (code[at + 1] == 0x38 || code[at + 1] == 0x3a)) {
    return "SSSE3, SSE4 or AES";
  }
  return {};
}

std::vector<unsigned char> bytes_at(const Prober& prober, const proc::MappedRange& mapping, std::uint64_t address) {
  std::vector<unsigned char> code(16);
  const UniqueFd file = proc::open_regular(prober.tracer_path(mapping.path)).descriptor;
  const ssize_t got =
      file.valid() ? ::pread(file.get(), code.data(), code.size(), static_cast<off_t>(mapping.offset_of(address))) : 0;
  code.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return code;
}

std::optional<Finding> illegal_instruction(const Case& facts) {
  const Crash* crash = crash_of(facts);
  if (crash == nullptr) {
    return std::nullopt;
  }
  Finding finding;
  const proc::MappedRange* mapping = mapping_of(*crash, crash->signal.instruction_pointer);
  const std::vector<unsigned char> code = mapping == nullptr
                                              ? std::vector<unsigned char>()
                                              : bytes_at(facts.prober, *mapping, crash->signal.instruction_pointer);
  const bool is_x86 = native_machine() == EM_X86_64;
  if (is_x86 && code.size() > 1 && code[0] == 0x0f && code[1] == 0x0b) {
    finding.rule = "deliberate-trap";
    finding.cause = "it stopped itself with the trap instruction ud2, in " + place(*crash) +
                    ": code that should never be reached, or a failed check of the compiler";
    finding.remedy = "a bug of the program: gdb " + shell_word(facts.process.executable()) + " shows where";
    return finding;
  }
  const std::string extension = is_x86 ? extension_of(code) : std::string();
  finding.cause = "the processor does not know an instruction in " + place(*crash) +
                  (extension.empty() ? "" : " (of " + extension + ")");
  std::string bytes;
  for (const unsigned char byte : code) {
    bytes += bytes.size() < 24 ? fmt::format("{:02x} ", byte) : "";
  }
  if (!bytes.empty()) {
    finding.looked_at.push_back("the instruction begins with " + bytes.substr(0, bytes.size() - 1));
  }
  const std::string model = word_after(line_with(read_file("/proc/cpuinfo", 8192), "model name"), ": ", "\n");
  if (!model.empty()) {
    finding.looked_at.push_back("the processor is " + model);
  }
  finding.remedy = "get a build for this processor (without -march=native of another machine)";
  return finding;
}

// ---------------------------------------------------------------------------------------------- others

std::optional<Finding> aborted(const Case& facts) {
  Finding finding;
  const std::string last = last_line(facts.messages);
  finding.cause = last.empty() ? "it aborted itself, without a word" : "it aborted itself: " + printable(last);
  for (auto step = facts.process.steps.rbegin(); step != facts.process.steps.rend(); ++step) {
    if (step->kind == Step::Kind::message && step->order >= facts.process.last_exec) {
      finding.evidence.push_back(&*step);
      break;
    }
  }
  add_stack(finding, facts);
  finding.remedy = "a failed assertion or an exception that nobody caught: its message says which";
  return finding;
}

std::optional<Finding> bus_error(const Case& facts) {
  const Crash* crash = crash_of(facts);
  if (crash == nullptr || facts.process.exit->signal != "SIGBUS") {
    return std::nullopt;
  }
  Finding finding;
  finding.cause =
      "it used a part of a mapped file that is not there (the file was cut, or the disk or /dev/shm is full), in " +
      place(*crash);
  const proc::MappedRange* data = mapping_of(*crash, address_in(crash->signal.info, "si_addr"));
  if (data != nullptr && !data->path.empty()) {
    finding.looked_at.push_back("the address belongs to " + data->path);
  }
  finding.remedy = "see df /dev/shm and the file's size";
  return finding;
}

std::optional<Finding> ended_from_outside(const Case& facts) {
  Finding finding;
  const Crash* crash = crash_of(facts);
  const std::int64_t sender = crash == nullptr ? 0 : crash->signal.info["si_pid"].number;
  if (sender == facts.process.pid) {
    finding.rule = "ended-itself";
    finding.cause = "it sent " + facts.process.exit->signal + " to itself";
  } else if (const Process* known = facts.story.find(static_cast<pid_t>(sender)); sender > 0 && known != nullptr) {
    finding.rule = "killed-by-process";
    finding.cause = fmt::format("{} (pid {}) ended it with {}", known->name(), sender, facts.process.exit->signal);
  } else {
    finding.cause = "it was ended from outside, with " + facts.process.exit->signal +
                    (sender > 0 ? fmt::format(", by process {}", sender) : std::string());
    if (sender > 0 && is_alive(static_cast<pid_t>(sender))) {
      finding.looked_at.push_back(describe_process(static_cast<pid_t>(sender)) + " runs");
    }
  }
  finding.remedy = "nothing is wrong with the program as far as that goes: see who ends it";
  finding.describes_exit = true;
  return finding;
}

/// Returns the connection that failed before the process wrote to it; nullptr if it wrote to something else.
const Step* failed_connection(const Process& process) {
  const auto is_of = [&](const Step& step, std::string_view name, std::string_view error) {
    return step.kind == Step::Kind::failure && step.order >= process.last_exec && step.call.name == name &&
           (error.empty() || step.call.error == error);
  };
  const auto& steps = process.steps;
  const auto write = std::find_if(steps.rbegin(), steps.rend(), [&](const Step& step) {
    return is_of(step, "write", "EPIPE") || is_of(step, "writev", "EPIPE") || is_of(step, "sendto", "EPIPE");
  });
  const auto connect = std::find_if(write, steps.rend(), [&](const Step& step) {
    return is_of(step, "connect", {}) && step.call.descriptor("sockfd") == write->call.args[0].value.number;
  });
  return connect == steps.rend() ? nullptr : &*connect;
}

std::optional<Finding> broken_pipe(const Case& facts) {
  Finding finding;
  if (const Step* connect = failed_connection(facts.process); connect != nullptr) {
    finding.rule = "connection-refused";
    finding.cause = "it wrote to a connection that could not be made: " + peer_of(connect->call).name() + " (" +
                    error_text_of(connect->call.error) + ')';
    finding.remedy = "see that its server runs and listens there (ss -ltn), or correct the address";
    finding.evidence.push_back(connect);
    return finding;
  }
  finding.cause = "whoever should have read its output was gone (SIGPIPE)";
  finding.remedy = "see why the reader, the next command of the pipe, ended";
  return finding;
}

constexpr Rule fatal_signals_table[] = {
    {"segmentation-fault", 20, "", "", "", "SIGSEGV", segmentation_fault},
    {"illegal-instruction", 25, "", "", "", "SIGILL", illegal_instruction},
    {"bus-error", 25, "", "", "", "SIGBUS", bus_error},
    {"segmentation-fault", 10, "", "", "", "SIGFPE SIGTRAP", segmentation_fault},
    {"aborted", 20, "", "", "", "SIGABRT", aborted},
    {"broken-pipe", 20, "", "", "", "SIGPIPE", broken_pipe},
    {"ended-from-outside", 20, "", "", "", "SIGTERM SIGINT SIGHUP SIGQUIT SIGALRM SIGUSR1 SIGUSR2", ended_from_outside},
};

}  // namespace

std::span<const Rule> fatal_signal_rules() {
  return fatal_signals_table;
}

}  // namespace tracer::explain::rules
