// The command line, from words to options or to the message that strace would print.

#include "catch.h"
#include "cli/parser.h"
#include "cli_tables.h"

using namespace tracer;
using namespace tracer::cli;
using namespace std::chrono_literals;

namespace {

const test::CallTables call_tables;
const spec::Tables tables = call_tables.tables();

Outcome run(std::vector<std::string> words, const std::string& program = "strace") {
  words.insert(words.begin(), program);
  return parse_command_line(words, tables);
}

/// The options, or a failed test.
Options good(std::vector<std::string> words) {
  words.emplace_back("prog");
  const auto outcome = run(std::move(words));
  if (const auto* error = std::get_if<UsageError>(&outcome)) {
    FAIL(error->text);
  }
  return std::get<Options>(outcome);
}

std::string text_of(const Outcome& outcome) {
  const auto* error = std::get_if<UsageError>(&outcome);
  return error != nullptr ? error->text : "no error";
}

/// The first line of the message, with ` TRY` where the line that points to -h follows.
std::string error(std::vector<std::string> words) {
  const auto text = text_of(run(std::move(words)));
  const auto line = text.substr(0, text.find('\n'));
  return text == line + "\nTry 'strace -h' for more information.\n" ? line + " TRY" : line;
}

std::string warnings(std::vector<std::string> words) {
  std::string all;
  for (const auto& line : good(std::move(words)).warnings) {
    all += line;
  }
  return all;
}

}  // namespace

TEST_CASE("options end at the first word that is none") {
  const auto options = good({"-f", "ls", "-l", "--"});
  CHECK(options.startup.program == std::vector<std::string>{"ls", "-l", "--", "prog"});
  CHECK(options.startup.follow_forks);
  CHECK(good({"-f", "--", "-x"}).startup.program == std::vector<std::string>{"-x", "prog"});
  CHECK(good({"-"}).startup.program.front() == "-");
}

TEST_CASE("letters bundle, arguments may be glued, long names may be cut short") {
  const auto options = good({"-fttTa30", "-enone", "--string-l=7", "--stat", "failed", "-bexecve"});
  CHECK(options.startup.follow_forks);
  CHECK(options.format.timestamp_digits == 6U);
  CHECK(options.format.syscall_times == 6U);
  CHECK(options.format.column == 30);
  CHECK(options.format.string_limit == 7);
  CHECK(options.filters.end.status == filter::StatusSet{filter::CallStatus::failed});
  CHECK(options.startup.detach_on_execve);
  CHECK(good({"--signal=int"}).filters.signals.contains(2));
  CHECK(good({"--daemon"}).startup.daemonize == process::Daemonize::grandchild);
  CHECK(good({"--fo"}).startup.follow_forks);  // not ambiguous with --format, which strace does not have
}

TEST_CASE("words that cannot be read") {
  CHECK(error({}) == "strace: must have PROG [ARGS] or -p PID TRY");
  CHECK(error({"-f"}) == "strace: must have PROG [ARGS] or -p PID TRY");
  CHECK(error({"--nosuch=3"}) == "strace: unrecognized option '--nosuch=3' TRY");
  CHECK(error({"-W"}) == "strace: invalid option -- 'W' TRY");
  CHECK(error({"-f-"}) == "strace: invalid option -- '-' TRY");
  CHECK(error({"-s"}) == "strace: option requires an argument -- 's' TRY");
  CHECK(error({"--string-limit"}) == "strace: option '--string-limit' requires an argument TRY");
  CHECK(error({"--help=3"}) == "strace: option '--help' doesn't allow an argument TRY");
  CHECK(error({"--succ=foo"}) == "strace: option '--successful-only' doesn't allow an argument TRY");
  CHECK(error({"--fa"}).starts_with("strace: option '--fa' is ambiguous; possibilities: '--"));
}

TEST_CASE("the name alone says what to try, unless scripts expect strace") {
  CHECK(std::ranges::count(text_of(run({}, "tracer")), '\n') == 5);
  CHECK(text_of(run({}, "/bin/strace")).starts_with("/bin/strace: must have PROG"));
}

TEST_CASE("the prefix of messages is argv[0] as typed") {
  CHECK(text_of(run({"--nosuch"}, "./a b/strace")) ==
        "./a b/strace: unrecognized option '--nosuch'\nTry './a b/strace -h' for more information.\n");
  CHECK(text_of(run({"-W"}, "")) == "strace: invalid option -- 'W'\nTry 'strace -h' for more information.\n");
}

TEST_CASE("under its own name the program suggests near misses, and says what an option takes") {
  CHECK(text_of(run({"--statsu=all"}, "tracer")) ==
        "tracer: unrecognized option '--statsu=all'; did you mean --status?\nTry 'tracer -h' for more information.\n");
  CHECK(text_of(run({"-e", "raed", "ls"}, "tracer")) == "tracer: invalid system call 'raed'; did you mean read?\n");
  CHECK(text_of(run({"--format=xml", "ls"}, "tracer")) ==
        "tracer: invalid --format argument: 'xml'; it takes "
        "text|json|folded|tree|dot|chrome|perfetto|sqlite|pcapng|html\n"
        "Try 'tracer -h' for more information.\n");
  CHECK(text_of(run({"-e", "status=ok", "ls"}, "tracer")) ==
        "tracer: invalid status 'ok'; it takes successful|failed|unfinished|unavailable|detached[,...]\n");
  CHECK(text_of(run({"-e", "status=ok", "ls"}, "strace")) == "strace: invalid status 'ok'\n");
  CHECK(text_of(run({"-e", "raed", "ls"}, "/bin/strace")) == "/bin/strace: invalid system call 'raed'\n");
}

TEST_CASE("numbers out of range") {
  CHECK(error({"-s", "-1"}) == "strace: invalid -s argument: '-1' TRY");
  CHECK(error({"-s", "1073741824"}) == "strace: invalid -s argument: '1073741824' TRY");
  CHECK(error({"--string-limit="}) == "strace: invalid --string-limit argument: '' TRY");
  CHECK(error({"-a", "0x10"}) == "strace: invalid -a argument: '0x10' TRY");
  CHECK(error({"--columns=x"}) == "strace: invalid --columns argument: 'x' TRY");
  CHECK(error({"-I", "5"}) == "strace: invalid -I argument: '5' TRY");
  CHECK(good({"-a", " +010"}).format.column == 10);
  CHECK(error({"--syscall-limit=0"}) == "strace: invalid --syscall-limit argument: '0' TRY");
}

TEST_CASE("option -p") {
  const auto options = good({"-p", "5,+6 7\n5,", "-p9"});
  CHECK(options.startup.attach == std::vector<pid_t>{5, 6, 7, 5, 9});
  CHECK(error({"-p", "1,x"}) == "strace: Invalid process id: 'x'");
  CHECK(error({"-p", "0"}) == "strace: Invalid process id: '0'");
  CHECK(error({"-p", "-1"}) == "strace: Invalid process id: '-1'");
  CHECK(error({"-p", ","}) == "strace: must have PROG [ARGS] or -p PID TRY");
  CHECK(error({"-p", "2147483648"}) == "strace: Invalid process id: '2147483648'");
  CHECK(error({"-p", ""}) == "strace: must have PROG [ARGS] or -p PID TRY");
}

TEST_CASE("start-up") {
  const auto options = good({"-E", "A=B=C", "-E", "D", "-u", "nobody", "--argv0=x"});
  CHECK(options.startup.environment == std::vector<std::string>{"A=B=C", "D"});
  CHECK(options.startup.user->name == "nobody");
  CHECK(options.startup.argv0 == "x");
  CHECK(text_of(parse_command_line({"strace", "-u", "nobody", "prog"}, tables, {mask_of(Abi::x86_64), 1000})) ==
        "strace: You must be root to use the -u/--username option\n");
  CHECK(good({"-u", "1:2"}).startup.user->group == 2U);
  CHECK(good({"-u", "-1:2"}).startup.user->name == "-1:2");
}

TEST_CASE("option -D and -I") {
  CHECK(good({"-DD"}).startup.daemonize == process::Daemonize::process_group);
  CHECK(good({"--daemonize=PGRP"}).startup.daemonize == process::Daemonize::process_group);
  CHECK(good({"--daemonize", "--daemonize=session"}).startup.daemonize == process::Daemonize::session);
  CHECK(good({"-D"}).startup.interruptible == process::Interruptible::never_tstp);
  CHECK(good({"-o", "f"}).startup.interruptible == process::Interruptible::never);
  CHECK(good({}).startup.interruptible == process::Interruptible::waiting);
  CHECK(good({"-o", "f", "-I", "Always"}).startup.interruptible == process::Interruptible::anywhere);
  CHECK(error({"-DDDD", "ls"}) == "strace: Too many -D's (4), maximum supported -D count is 3 TRY");
  CHECK(error({"-D", "--daemonize", "ls"}) == "strace: -D and --daemonize cannot be provided simultaneously");
  CHECK(error({"-p", "1", "-D"}) == "strace: PROG [ARGS] must be specified with -D/--daemonize TRY");
  CHECK(error({"--daemonised=foo", "ls"}) == "strace: invalid --daemonised argument: 'foo' TRY");
  CHECK(error({"-b", "foo", "ls"}) == "strace: Syscall 'foo' for -b isn't supported");
}

TEST_CASE("option -e") {
  const auto options = good({"-e", "t=read", "-e", "signal=!int", "-e", "r=3", "-e", "raw=write", "-e", "v=none"});
  CHECK(options.filters.trace.contains(Abi::x86_64, 0));
  CHECK_FALSE(options.filters.trace.contains(Abi::x86_64, 1));
  CHECK(options.filters.trace.contains(Abi::x86_64, 900));
  CHECK_FALSE(options.filters.signals.contains(2));
  CHECK(options.format.dump_reads.contains(3));
  CHECK(options.format.raw.contains(Abi::x86_64, 1));
  CHECK_FALSE(options.format.raw.contains(Abi::x86_64, 900));
  CHECK_FALSE(options.format.verbose.contains(Abi::x86_64, 0));
  CHECK_FALSE(good({"-e", "!read"}).filters.trace.contains(Abi::x86_64, 0));
  CHECK(good({"-e", "fd=3"}).filters.trace_fds->contains(3));
  CHECK(good({"-e", "usdt=a:b"}).extras.probes.front() == "a:b");
  CHECK(error({"-e", "foo=bar", "ls"}) == "strace: invalid system call 'foo=bar'");
  CHECK(error({"-e", "", "ls"}) == "strace: invalid system call ''");
  CHECK(error({"-e", "kvm=VCPU", "ls"}) == "strace: invalid -e kvm= argument: 'VCPU'");
  CHECK(error({"-e", "read=x", "ls"}) == "strace: invalid descriptor 'x'");
  CHECK(error({"-e", "decode-fd=foo", "ls"}) == "strace: invalid decode-fds 'foo'");
  CHECK(error({"-e", "read@foo", "ls"}) ==
        "strace: incorrect personality designator 'foo' in qualification 'read@foo' TRY");
}

TEST_CASE("short and long spellings do not mix") {
  CHECK(error({"-q", "--quiet", "ls"}) == "strace: -q and -e quiet/--quiet cannot be provided simultaneously");
  CHECK(error({"-y", "-e", "decode-fds=all", "ls"}) == "strace: -y and --decode-fds cannot be provided simultaneously");
  CHECK(error({"-x", "--strings-in-hex", "-y", "--decode-fds", "ls"}) ==
        "strace: -x and --strings-in-hex cannot be provided simultaneously");
  CHECK(error({"-t", "--timestamps", "-w", "ls"}) ==
        "strace: -t and --absolute-timestamps cannot be provided simultaneously");
  CHECK(error({"-f", "--follow-forks", "ls"}) == "strace: -f and --follow-forks cannot be provided simultaneously");
}

TEST_CASE("timestamps") {
  const auto at = [](const std::string& value) {
    const auto format = good({"--timestamps=" + value}).format;
    return std::pair(format.timestamps, format.timestamp_digits);
  };
  CHECK(at("ns") == std::pair(render::Clock::time_of_day, 9U));
  CHECK(at("unix,ms") == std::pair(render::Clock::unix_time, 3U));
  CHECK(at("precision:us,format:Unix,") == std::pair(render::Clock::unix_time, 6U));
  CHECK(at("") == std::pair(render::Clock::time_of_day, 0U));
  CHECK(at("none,ms").first == render::Clock::none);
  CHECK(good({"-ttt"}).format.timestamps == render::Clock::unix_time);
  CHECK(good({"--timestamps=unix", "--timestamps=ms"}).format.timestamps == render::Clock::unix_time);
  CHECK(good({"-r"}).format.relative_timestamps == 6U);
  CHECK(good({"--relative-timestamps=S"}).format.relative_timestamps == 0U);
  CHECK(error({"--absolute-timestamps=format:ms", "ls"}) ==
        "strace: invalid --absolute-timestamps argument: 'format:ms' TRY");
}

TEST_CASE("quiet") {
  using filter::Quiet;
  using Set = filter::ChoiceSet<filter::Quiet>;
  CHECK(good({"-q"}).format.quiet == Set{Quiet::attach, Quiet::personality});
  CHECK(good({"--silent"}).format.quiet == Set{Quiet::attach, Quiet::personality});
  CHECK(good({"-qq"}).format.quiet.has(Quiet::exit));
  CHECK(good({"-qqqq"}).format.quiet.has(Quiet::thread_execve));
  CHECK(good({"-o", "f"}).format.quiet == Set{Quiet::attach, Quiet::personality});
  CHECK(good({"-o", "f", "--quiet=none"}).format.quiet.empty());
  CHECK(good({"-e", "q=superseded,EXITS"}).format.quiet == Set{Quiet::thread_execve, Quiet::exit});
  CHECK(error({"--quiet=foo", "ls"}) == "strace: invalid quiet 'foo'");
}

TEST_CASE("details of descriptors and processes") {
  CHECK(good({"-y"}).format.fd_details == filter::ChoiceSet<FdDetail>{FdDetail::path});
  CHECK(good({"-yy"}).format.fd_details.has(FdDetail::socket));
  CHECK(good({"--decode-fds"}).format.fd_details == filter::ChoiceSet<FdDetail>{FdDetail::path});
  CHECK(good({"-Y"}).format.pid_details.has(PidDetail::comm));
  CHECK_FALSE(good({"-Y", "--pidns-translation"}).format.pid_details.has(PidDetail::comm));
  CHECK(good({"--secontext"}).format.secontext.shown);
  CHECK_FALSE(good({"--secontext"}).format.secontext.full);
  CHECK(good({"--secontext=full"}).format.secontext.full);
  CHECK(good({"-xx"}).format.strings_in_hex == render::HexStrings::all);
  CHECK(good({"-k"}).format.stack_trace == StackTrace::symbols);
  CHECK(error({"-kkk", "ls"}) == "strace: Too many -k options TRY");
}

TEST_CASE("output") {
  CHECK_FALSE(good({"-f", "--output-separately", "-o", "f"}).output.separate);
  CHECK(good({"--follow-forks", "--output-separately", "-o", "f"}).output.separate);
  const auto options = good({"-ff", "-A", "-o", "f"});
  CHECK(options.output.to == Output::To::file);
  CHECK(options.output.target == "f");
  CHECK(options.output.separate);
  CHECK(options.output.append);
  CHECK(good({"-o", "|cat"}).output.to == Output::To::command);
  CHECK(good({"-o", "!cat"}).output.target == "cat");
  CHECK_FALSE(good({"-ff"}).output.separate);
  CHECK(error({"-ff", "-o", "|cat", "ls"}) ==
        "strace: piping the output and -ff/--output-separately are mutually exclusive TRY");
}

TEST_CASE("summary") {
  const auto options = good({"-C", "-w", "-S", "total_time", "-U", "calls,shortest", "-O", "1.5ms"});
  CHECK(options.summary.mode == SummaryMode::with_trace);
  CHECK(options.summary.wall_clock);
  CHECK(options.summary.sort_by == SummaryColumn::total_time);
  CHECK(options.summary.columns == std::vector{SummaryColumn::calls, SummaryColumn::min_time, SummaryColumn::name});
  CHECK(options.summary.overhead == 1500us);
  CHECK_FALSE(good({"-c", "-S", "nothing"}).summary.sort_by);
  CHECK(error({"-c", "-C", "--nosuch"}) == "strace: -c/--summary-only and -C/--summary are mutually exclusive TRY");
  CHECK(error({"-c", "-i", "-ff", "ls"}) ==
        "strace: (-c/--summary-only or -C/--summary) and -ff/--output-separately are mutually exclusive TRY");
  CHECK(error({"-w", "-U", "time", "ls"}) ==
        "strace: -w/--summary-wall-clock must be given with (-c/--summary-only or -C/--summary) TRY");
  CHECK(error({"-c", "-S", "CALLS"}) == "strace: invalid sortby: 'CALLS' TRY");
  CHECK(error({"-c", "-U", "time,"}) == "strace: unknown column name: '' TRY");
  CHECK(error({"-c", "-U", "time,calls,count,name"}) ==
        "strace: call summary column has been provided more than once: 'count' (-U option residual: 'count,name') TRY");
  for (const char* bad : {"x", "5q", "-5", "inf", "0x10", "", "5m", "5 us", "999999999999999999999999"}) {
    CHECK(error({"-O", bad}) == "strace: invalid -O argument: '" + std::string(bad) + "' TRY");
  }
}

TEST_CASE("warnings come in strace's order") {
  CHECK(warnings({"-c", "-y", "-T", "-t", "-r", "-n", "-N", "-i", "-k"}) ==
        "strace: -i/--instruction-pointer has no effect with -c/--summary-only\n"
        "strace: -k/--stack-trace has no effect with -c/--summary-only\n"
        "strace: -n/--syscall-number has no effect with -c/--summary-only\n"
        "strace: -N/--arg-names has no effect with -c/--summary-only\n"
        "strace: -r/--relative-timestamps has no effect with -c/--summary-only\n"
        "strace: -t/--absolute-timestamps has no effect with -c/--summary-only\n"
        "strace: -T/--syscall-times has no effect with -c/--summary-only\n"
        "strace: -y/--decode-fds has no effect with -c/--summary-only\n");
  CHECK(warnings({"-Z", "-z", "--seccomp-bpf", "-A", "-S", "name", "-F"}) ==
        "strace: --seccomp-bpf cannot be used without -f/--follow-forks, disabling\n"
        "strace: option -F is deprecated, please use -f/--follow-forks instead\n"
        "strace: -S/--summary-sort-by has no effect without (-c/--summary-only or -C/--summary)\n"
        "strace: -A/--output-append-mode has no effect without -o/--output\n"
        "strace: Only the last of -z/--successful-only/-Z/--failed-only options will take effect. "
        "See status qualifier for more complex filters.\n");
  CHECK(warnings({"--stack-trace-frame-limit=2"}) ==
        "strace: --stack-trace-frame-limit has no effect without -k/--stack-trace\n");
  CHECK(warnings({"-k", "--stack-trace-frame-limit=2"}).empty());
  CHECK(warnings({"--stack-unwinder=libdw", "--folded-weight=time", "--bpf-buffer=1M"}) ==
        "strace: --stack-unwinder has no effect without -k/--stack-trace\n"
        "strace: --folded-weight has no effect without --format=folded\n"
        "strace: --bpf-buffer has no effect without the bpf engine (--engine=bpf)\n");
  CHECK(warnings({"--format=json", "-i", "-n", "-N"}) ==
        "strace: -i/--instruction-pointer has no effect with --format=json\n"
        "strace: -n/--syscall-number has no effect with --format=json\n"
        "strace: -N/--arg-names has no effect with --format=json\n");
  CHECK(warnings({"--format=pcapng", "-o", "x", "-k"}) ==
        "strace: -k/--stack-trace has no effect with --format=pcapng\n");
  CHECK(warnings({"--format=folded", "--folded-weight=time", "--stack-unwinder=libdw"}).empty());
  CHECK(warnings({"--engine=bpf", "--bpf-buffer=1M"}).empty());
  CHECK(warnings({"-f", "-F"}) == "strace: deprecated option -F ignored\n");
  // A warning is printed even where an error follows.
  CHECK(text_of(run({"-F", "-c", "-ff", "ls"})).starts_with("strace: deprecated option -F ignored\nstrace: (-c"));
}

TEST_CASE("tampering") {
  const auto one = [](const std::string& text) { return good({"-e", "inject=" + text}).injections.front(); };
  const auto full =
      one("read,open:error=enoent:signal=usr1:delay_enter=2:delay_exit=3s:poke_exit=@arg2=0aFF:when=2..9+3");
  CHECK(full.calls.contains(Abi::x86_64, 2));
  CHECK(full.error == 2);
  CHECK(full.signal == 10);
  CHECK(full.delay_enter == 2us);
  CHECK(full.delay_exit == 3s);
  REQUIRE(full.poke_exit.size() == 1);
  CHECK(full.poke_exit[0].argument == 2);
  CHECK(full.poke_exit[0].data == std::vector{std::byte{0x0a}, std::byte{0xff}});
  CHECK(full.first == 2);
  CHECK(full.last == 9);
  CHECK(full.step == 3);
  CHECK(one("read:error=1:when=5").first == 5);
  CHECK(one("read:error=1:when=5").last == 5);
  CHECK(one("read:error=1:when=5+").last == 65535);
  CHECK(one("read:retval=0x10").retval == 16U);
  CHECK(one("read:retval=010").retval == 8U);
  CHECK(one("read:retval= +8").retval == 8U);
  CHECK(one("read:error=+5").error == 5);
  CHECK(one("read:syscall=getpid:error=1").syscall == "getpid");
  CHECK(good({"-e", "fault=read"}).injections.front().error == 38);
  CHECK(good({"-e", "fault=read", "--inject=write:signal=1"}).injections.size() == 2);

  for (const char* bad : {"read",
                          "read:",
                          "read:foo",
                          "read:error=0",
                          "read:error=4096",
                          "read:error=",
                          "read:error=1:retval=0",
                          "read:retval=5x",
                          "read:retval=+-1",
                          "read:signal=0",
                          "read:signal=65",
                          "read:signal=1:signal=2",
                          "read:syscall=getpid",
                          "read:syscall=read:error=1",
                          "read:syscall=getuid32:error=1",
                          "read:delay_exit=-5",
                          "read:poke_enter=@arg1=0",
                          "read:poke_enter=@arg0=00",
                          "read:poke_enter=@arg8=00",
                          "read:poke_enter=@arg1=00,@arg1=11",
                          "read:poke_enter=arg1=00",
                          "read:poke_enter=@arg1=zz",
                          "read:poke_exit=@arg01=00",
                          "read:error=1:when=0",
                          "read:error=1:when=65536",
                          "read:error=1:when=1+0",
                          "read:error=1:when=3..1",
                          "read:error=1:when=1..65535",
                          "read:error=1:when=1..",
                          "read:error=1:when=1+2..3",
                          "read:error=1:when=",
                          "read:ERROR=1",
                          "foo:error=foo"}) {
    CHECK(error({"-e", std::string("inject=") + bad}) == "strace: invalid inject argument '" + std::string(bad) + "'");
  }
  CHECK(error({"-e", "fault=read:retval=1"}) == "strace: invalid fault argument 'read:retval=1'");
  CHECK(error({"-e", "inject=:error=1"}) == "strace: invalid system call ''");
  CHECK(error({"-e", "inject=foo"}) == "strace: invalid system call 'foo'");
  CHECK(warnings({"-e", "inject=read:retval=-1"}) ==
        "strace: Inadvertent injection of error 1 is possible for retval=18446744073709551615\n");
  CHECK(warnings({"-e", "inject=read:retval=4294967294"}) ==
        "strace: Inadvertent injection of error 2 is possible in compat personality for retval=4294967294\n");
  CHECK(warnings({"-e", "inject=read:retval=18446744073709547520"}) ==
        "strace: Injected return value 18446744073709547520 will be clipped to 4294963200 in compat personality\n");
  CHECK(warnings({"-e", "inject=read:retval=0x1ffffffff"}) ==
        "strace: Inadvertent injection of error 1 is possible in compat personality for retval=8589934591\n");
}

TEST_CASE("what strace does not have") {
  const auto options = good({"--engine=ptrace", "--format=json", "--define=a.sys", "--errno=ENOENT,13",
                             "--min-duration=5ms", "--system-wide"});
  CHECK(options.extras.engine == EngineChoice::ptrace);
  CHECK(options.format.output == OutputFormat::json);
  CHECK(options.extras.define.front() == "a.sys");
  CHECK(options.filters.end.errnos == std::vector<int>{2, 13});
  CHECK(options.filters.end.min_duration == 5ms);
  CHECK(error({"--errno=EFOO", "ls"}) == "strace: invalid error 'EFOO'");
  CHECK(std::holds_alternative<Options>(run({"--doctor"})));
}

TEST_CASE("tips") {
  const auto tips = good({"--tips=id:7,format:full"}).tips;
  CHECK(tips.shown);
  CHECK(tips.id == 7);
  CHECK_FALSE(tips.random);
  CHECK_FALSE(tips.compact);
  CHECK_FALSE(good({"--tips=Compact,none"}).tips.shown);
  CHECK(std::holds_alternative<Options>(run({"--tips"})));
  CHECK(error({"--tips=id:foo"}) == "strace: invalid --tips argument: 'id:foo' TRY");
}

TEST_CASE("help and version") {
  const auto help = run({"-f", "-h", "--nosuch"});
  REQUIRE(std::holds_alternative<Information>(help));
  CHECK(std::get<Information>(help).text.starts_with("Usage: strace "));
  const auto version = run({"-V", "-w"});
  REQUIRE(std::holds_alternative<Information>(version));
  CHECK(std::get<Information>(version).text.starts_with("strace -- version 7.2\nThis is tracer "));
  CHECK(error({"-V", "-p", "x"}) == "strace: Invalid process id: 'x'");
}
