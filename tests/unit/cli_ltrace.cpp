// ltrace's command line.

#include "catch.h"
#include "cli/ltrace.h"

using namespace tracer;
using namespace tracer::cli;

namespace {

Outcome run(std::vector<std::string> words, unsigned columns = 0) {
  words.insert(words.begin(), "ltrace");
  Environment environment;
  environment.columns = columns;
  return parse_ltrace_command_line(words, environment);
}

Options good(std::vector<std::string> words, unsigned columns = 0) {
  words.emplace_back("prog");
  const auto outcome = run(std::move(words), columns);
  if (const auto* error = std::get_if<UsageError>(&outcome)) {
    FAIL(error->text);
  }
  return std::get<Options>(outcome);
}

std::string error(std::vector<std::string> words) {
  const auto outcome = run(std::move(words));
  const auto* error = std::get_if<UsageError>(&outcome);
  return error == nullptr ? "no error" : error->text.substr(0, error->text.find('\n'));
}

}  // namespace

TEST_CASE("the name of the link chooses ltrace's command line") {
  CHECK(is_ltrace({"ltrace"}));
  CHECK(is_ltrace({"/usr/bin/ltrace"}));
  CHECK_FALSE(is_ltrace({"ltrace/tracer"}));
  CHECK_FALSE(is_ltrace({}));
}

TEST_CASE("without a choice the calls of the program show, without its name") {
  const auto options = good({});
  CHECK(options.extras.libraries == std::vector<std::string>{"@MAIN"});
  CHECK_FALSE(options.ltrace->show_callers);
  CHECK(options.filters.trace.empty());
  CHECK(options.startup.program == std::vector<std::string>{"prog"});
  CHECK(good({"-L"}).extras.libraries.empty());
  CHECK(good({"-x", "f"}).extras.libraries == std::vector<std::string>{"@MAIN"});
}

TEST_CASE("filters add up, and show who calls") {
  const auto options = good({"-e", "a", "-eb@c", "-l", "libz*", "--library=libm*", "-x", "d"});
  CHECK(options.extras.libraries == std::vector<std::string>{"a", "b@c"});
  CHECK(options.ltrace->exporters == std::vector<std::string>{"libz*", "libm*"});
  CHECK(options.extras.symbols == std::vector<std::string>{"d"});
  CHECK(options.ltrace->show_callers);
}

TEST_CASE("letters stand together, and arguments behind them") {
  const auto options = good({"-fSTia30", "-n4", "-ttt", "-bC", "-A", "7", "-s9"});
  CHECK(options.startup.follow_forks);
  CHECK(options.filters.trace.full());
  CHECK(options.format.syscall_times == 6U);
  CHECK(options.format.instruction_pointer);
  CHECK(options.format.column == 29);
  CHECK(options.format.indent == 4);
  CHECK(options.format.timestamps == render::Clock::unix_time);
  CHECK(options.format.timestamp_digits == 6U);
  CHECK_FALSE(options.ltrace->show_signals);
  CHECK(options.ltrace->demangle);
  CHECK(options.ltrace->most_elements == 7);
  CHECK(options.format.string_limit == 9);
}

TEST_CASE("results are aligned at five eighths of the width") {
  CHECK(good({}).format.column == 49);
  CHECK(good({}, 160).format.column == 99);
  CHECK(good({"-a", "1"}, 160).format.column == 0);
  CHECK(good({"-a", "0"}).format.column == 0);
}

TEST_CASE("options end at the program") {
  const auto words = std::vector<std::string>{"-c", "--", "-p", "7"};
  const auto outcome = run(words);
  REQUIRE(std::holds_alternative<Options>(outcome));
  CHECK(std::get<Options>(outcome).startup.program == std::vector<std::string>{"-p", "7"});
  CHECK(std::get<Options>(outcome).summary.mode == SummaryMode::only);
}

TEST_CASE("processes are attached to once each, with or without a program") {
  CHECK(good({"-p", "12", "-p13", "-p", "12"}).startup.attach == std::vector<pid_t>{12, 13});
  CHECK(std::holds_alternative<Options>(run({"-p", "12"})));
}

TEST_CASE("errors are reported in ltrace's words") {
  CHECK(error({}) == "ltrace: too few arguments");
  CHECK(error({"-n", "21", "x"}) == "Invalid argument to -n: '21'.  Use integer 0..20.");
  CHECK(error({"-p", "0"}) == "Invalid argument to -p: '0'.  Use integer >=1.");
  CHECK(error({"-s", "-1", "x"}) == "Invalid argument to -s: '-1'.  Use integer >=0.");
  CHECK(good({"-L", "-l", "x", "y"}).ltrace.has_value());
  CHECK(error({"-tr", "x"}) == "ltrace: Options -r and -t can't be used together");
  CHECK(error({"--in", "x", "y"}) == "Invalid argument to -n: 'x'.  Use integer 0..20.");
  CHECK(error({"--de=4", "x"}) == "ltrace: option '--de' is ambiguous");
  CHECK(error({"--demangle=4", "x"}) == "ltrace: option '--demangle' doesn't allow an argument");
  CHECK(error({"--output"}) == "ltrace: option '--output' requires an argument");
  CHECK(error({"-o"}) == "ltrace: option requires an argument -- 'o'");
  CHECK(error({"-D", "9", "x"}) == "ltrace: --debug requires an octal argument");
}
