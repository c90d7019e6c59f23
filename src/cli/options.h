// The parsed command line as plain data. parse_command_line() creates it; it does not change afterwards.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/summary_column.h"
#include "cli/output_formats.h"
#include "filter/choice_set.h"
#include "filter/end_filter.h"
#include "filter/number_set.h"
#include "filter/quiet.h"
#include "filter/syscall_set.h"
#include "filter/trigger.h"
#include "format/constants.h"
#include "proc/cgroups/target.h"
#include "process/daemonize.h"
#include "process/interruptible.h"
#include "render/text_choices.h"

namespace tracer::cli {

// ---------------------------------------------------------------------------------------------- start-up

/// -u. The parser does not look the name up.
struct RunAs {
  std::string name;                ///< the user's name; empty if `ids` is set
  std::optional<uid_t> user = {};  ///< UID:GID form: no look-up, no supplementary groups
  std::optional<gid_t> group = {};
};

struct Startup {
  std::vector<std::string> program;  ///< the command and its arguments; empty with -p alone
  std::optional<std::string> argv0;
  std::vector<std::string> environment;  ///< NAME=VALUE, or NAME to remove it, in order
  std::optional<rlimit> stack_limit;     ///< what the program gets, if it is not what the tracer has
  std::optional<RunAs> user;
  std::vector<pid_t> attach;  ///< without duplicates, in the order given
  process::Daemonize daemonize = process::Daemonize::no;
  process::Interruptible interruptible =
      process::Interruptible::waiting;  ///< the defaults for -o and -D are applied already
  bool follow_forks = false;
  bool detach_on_execve = false;
  bool kill_on_exit = false;
  bool survive = false;
  bool seccomp_bpf = false;
  bool debug = false;
  std::uint64_t syscall_limit = 0;  ///< 0: none
};

// ---------------------------------------------------------------------------------------------- what is shown

struct Filters {
  filter::SyscallSet trace = filter::SyscallSet::all();
  filter::NumberSet signals = filter::NumberSet::all();
  std::vector<std::string> paths;              ///< -P, as given
  std::optional<filter::NumberSet> trace_fds;  ///< --trace-fds; or-ed with `paths`
  filter::EndFilter end;                       ///< -e status=, --errno, --min-duration

  [[nodiscard]] bool by_path_or_fd() const { return !paths.empty() || trace_fds.has_value(); }
};

// ---------------------------------------------------------------------------------------------- how it looks

/// The usual precision of times: the digits of microseconds.
inline constexpr unsigned microseconds = 6;

enum class StackTrace : std::uint8_t { none, symbols, sources };
enum class Color : std::uint8_t { automatic, always, never };
enum class Fold : std::uint8_t { automatic, always, never };
enum class StackUnwinder : std::uint8_t { libdw, libunwind };

enum class FdDetail : std::uint8_t { path, socket, dev, pidfd, eventfd, signalfd };
enum class PidDetail : std::uint8_t { comm, pidns };
enum class Kvm : std::uint8_t { none, vcpu, vcpu_all };

struct SecurityContext {
  bool shown = false;
  bool full = false;
  bool mismatch = false;
};

struct Format {
  OutputFormat output = OutputFormat::text;
  render::Clock timestamps = render::Clock::none;
  // Digits of the fraction of a second: 0, 3, 6 or 9.
  unsigned timestamp_digits = 0;
  std::optional<unsigned> relative_timestamps;  ///< -r
  std::optional<unsigned> syscall_times;        ///< -T
  unsigned column = 40;
  unsigned string_limit = 32;
  render::HexStrings strings_in_hex = render::HexStrings::none;
  format::ConstantForm const_style = format::ConstantForm::abbreviate;
  filter::SyscallSet abbrev = filter::SyscallSet::all();
  filter::SyscallSet verbose = filter::SyscallSet::all();
  filter::SyscallSet raw;
  filter::NumberSet dump_reads;
  filter::NumberSet dump_writes;
  filter::ChoiceSet<FdDetail> fd_details;
  filter::ChoiceSet<PidDetail> pid_details;
  filter::ChoiceSet<filter::Quiet> quiet;
  Kvm kvm = Kvm::none;
  bool namespaces = false;
  SecurityContext secontext;
  bool argument_names = false;
  bool instruction_pointer = false;
  bool syscall_number = false;
  bool always_show_pid = false;
  unsigned indent = 0;  ///< columns for each function that is open around a line
  StackTrace stack_trace = StackTrace::none;
  unsigned stack_frame_limit = 256;
  StackUnwinder stack_unwinder = StackUnwinder::libdw;
  render::FoldedWeight folded_weight = render::FoldedWeight::calls;
  Color color = Color::automatic;
  Fold fold = Fold::automatic;  ///< automatic: on a terminal, for the whole text
};

struct Output {
  enum class To : std::uint8_t { standard_error, file, command };
  To to = To::standard_error;
  std::string target;     ///< file name, or the shell command after `|` or `!`
  std::string given;      ///< the word as it was given, with its `|` or `!`
  bool append = false;    ///< -A
  bool separate = false;  ///< FILE.PID for each process
};

// ---------------------------------------------------------------------------------------------- summary

enum class SummaryMode : std::uint8_t { none, only, with_trace };  // nothing, -c, -C

struct Summary {
  SummaryMode mode = SummaryMode::none;
  bool wall_clock = false;
  bool histogram = false;
  bool exact = false;                                                  ///< no time may be estimated
  std::optional<SummaryColumn> sort_by = SummaryColumn::time_percent;  ///< empty: not sorted
  std::vector<SummaryColumn> columns = {SummaryColumn::time_percent, SummaryColumn::total_time, SummaryColumn::avg_time,
                                        SummaryColumn::calls,        SummaryColumn::errors,     SummaryColumn::name};
  std::optional<std::chrono::nanoseconds> overhead;  ///< -O; empty: measure it
};

// ---------------------------------------------------------------------------------------------- tampering

struct Poke {
  unsigned argument = 0;  ///< from 1
  std::vector<std::byte> data;
};

struct Injection {
  static constexpr std::uint16_t no_end = 65535;

  filter::SyscallSet calls;
  std::optional<int> error;             ///< an errno value
  std::optional<std::uint64_t> retval;  ///< at most one of error and retval
  std::optional<int> signal;
  std::string syscall;                                  ///< a %pure call to run instead; empty: none
  std::optional<std::chrono::nanoseconds> delay_enter;  ///< zero marks the call and delays nothing
  std::optional<std::chrono::nanoseconds> delay_exit;
  std::vector<Poke> poke_enter;
  std::vector<Poke> poke_exit;
  // Counted for each call and each tracee, from 1: first, first + step, … up to last.
  std::uint16_t first = 1;
  std::uint16_t last = no_end;
  std::uint16_t step = 1;
};

// ---------------------------------------------------------------------------------------------- ours

enum class EngineChoice : std::uint8_t { automatic, ptrace, bpf, inprocess };

/// The argument of --from and --to.
struct ReplayTime {
  std::chrono::nanoseconds time{};
  bool since_epoch = false;  ///< false: since the start of the recording
};

/// The longest -s of a run that is recorded: all that one call reads has to fit a block.
inline constexpr std::uint32_t most_recorded_text = 4U << 20;

/// Trace files.
struct TraceFiles {
  std::string record;  ///< --record: the file to write; `-` for standard output; empty: none
  std::string replay;  ///< --replay: the file to read instead of tracing; `-` for standard input; empty: none
  /// --record-last: a flight recorder, which holds so much in memory; both empty: none.
  std::optional<std::chrono::nanoseconds> last_time;
  std::optional<std::uint64_t> last_bytes;
  std::vector<filter::Trigger> when;  ///< --record-when
  bool information = false;           ///< --info: show only what is in it
  // The part of the recording to show; empty: no limit.
  std::optional<ReplayTime> from;
  std::optional<ReplayTime> to;

  [[nodiscard]] bool in_memory() const { return last_time || last_bytes; }
};

/// Those that select processes in a way that needs the bpf engine.
inline constexpr std::string_view scope_options = "--system-wide, --cgroup, --unit, --container and --comm";

/// Options that strace does not have.
struct Extras {
  EngineChoice engine = EngineChoice::automatic;
  std::uint32_t bpf_buffer = 512U << 20;      ///< bytes, a power of two
  std::vector<std::string> define;            ///< description files to load
  std::vector<std::string> libraries;         ///< -e library=
  std::vector<std::string> symbols;           ///< -e symbol=
  std::vector<std::string> probes;            ///< -e usdt=
  std::string list_probes;                    ///< --list-probes: a program or a process id; empty: not asked for
  std::vector<proc::cgroups::Target> groups;  ///< --cgroup, --unit, --container
  std::vector<std::string> comms;
  bool system_wide = false;
  bool rings = false;  ///< --io-uring
  bool doctor = false;
  bool view = false;                                      ///< --view
  bool explain = false;                                   ///< --explain
  bool explain_verbose = false;                           ///< --explain=verbose
  std::string explain_trace;                              ///< --explain=FILE: a recorded trace; `-` for standard input
  std::optional<std::chrono::nanoseconds> explain_after;  ///< --explain-after
  TraceFiles files;

  /// Returns whether processes are selected in a way that needs the bpf engine.
  [[nodiscard]] bool any_scope() const { return system_wide || !groups.empty() || !comms.empty(); }
};

/// Options that only ltrace has; the others are stored as those of strace.
struct Ltrace {
  std::vector<std::string> exporters;   ///< -l: patterns of libraries
  std::vector<std::string> prototypes;  ///< -F: files, and directories separated by colons
  bool show_callers = false;
  bool show_signals = true;
  bool demangle = false;
  unsigned most_elements = 4;
};

struct Tips {
  bool shown = false;
  bool compact = true;
  bool random = true;
  unsigned id = 0;
};

enum class Compat : std::uint8_t { strace, none };

struct Options {
  std::string program_name;      ///< argv[0] as typed: the prefix of messages
  bool strict = false;           ///< started under the name `strace`: only its messages and exit status
  Compat compat = Compat::none;  ///< strace: its text to the letter
  Startup startup;
  Filters filters;
  Format format;
  Output output;
  Summary summary;
  std::vector<Injection> injections;
  Extras extras;
  std::optional<Ltrace> ltrace;
  Tips tips;
  std::vector<std::string> warnings;  ///< lines for standard error, with prefix and newline

  /// Whether counts are all that the engine has to report.
  [[nodiscard]] bool only_counts() const { return summary.mode == SummaryMode::only && extras.files.record.empty(); }
};

}  // namespace tracer::cli
