// Calls that i386 makes through socketcall and ipc: filters and counts know them by what they really are.
#include <sstream>

#include "catch.h"
#include "pipeline_stage.h"

namespace tracer::test {

namespace {

constexpr std::uint64_t readable = 0x1000;

filter::SyscallSet parse(std::string_view text) {
  const spec::TableSet tables = test_tables();
  const spec::Tables view = tables.view();
  return filter::parse_syscall_set(text, {view, mask_of(Abi::i386), false}).value();
}

void make_calls(Stage& stage) {
  stage.memory.put(readable, std::string("\3\0\0\0\5\0\0\0", 8) + std::string(16, '\0'));
  const auto call = [&stage](std::uint64_t number, std::uint64_t a, std::uint64_t b) {
    stage.enter(1, number, a, b, 0, Abi::i386);
    stage.exit(1, 0, Abi::i386);
  };
  call(socketcall, 5, readable);
  call(socketcall, 4, readable);
  call(socketcall, 9, readable);
  call(socketcall, 4, 0);
  call(ipc, 1, 7);
  call(ipc, 2, 7);
}

/// The names of the calls that are shown.
std::string shown(std::string_view set) {
  StageOptions options;
  options.pipeline.filter.calls = parse(set);
  options.pipeline.quiet.add(filter::Quiet::personality);
  Stage stage(options);
  make_calls(stage);
  std::string names;
  std::istringstream lines(stage.text());
  for (std::string line; std::getline(lines, line);) {
    names += line.substr(0, line.find('(')) + ' ';
  }
  return names;
}

}  // namespace

TEST_CASE("filters look at what a call through another one is") {
  CHECK(shown("all") == "accept listen socketcall socketcall semop ipc ");
  CHECK(shown("accept") == "accept ");
  CHECK(shown("%net,semop") == "accept listen semop ");
  CHECK(shown("!%net") == "socketcall socketcall semop ipc ");
  CHECK(shown("socketcall,12") == "socketcall socketcall ipc ");
  CHECK(shown("%desc") == "socketcall socketcall ");
  CHECK(shown("%ipc") == "semop ipc ");
}

TEST_CASE("the table of -c has what a call through another one is") {
  StageOptions options;
  options.pipeline.summary_only = true;
  options.pipeline.filter.calls = parse("!listen");
  options.summary.columns = {SummaryColumn::calls, SummaryColumn::name};
  options.summary.sort_by = SummaryColumn::name;
  Stage stage(options);
  make_calls(stage);
  const std::string table = stage.table();
  CHECK(table.find("1 accept\n") != std::string::npos);
  CHECK(table.find("2 socketcall\n") != std::string::npos);
  CHECK(table.find("1 semop\n") != std::string::npos);
  CHECK(table.find("1 ipc\n") != std::string::npos);
  CHECK(table.find("listen") == std::string::npos);
}

TEST_CASE("a call through another one is tampered with by what it is, but for arguments, which are in no register") {
  StageOptions options;
  pipeline::TamperRule rule;
  rule.calls = parse("accept");
  rule.first = 2;
  rule.what.result = trace::Tampering::Result{5, true};
  rule.what.poke_enter = {{1, {std::byte{0}}}};
  options.pipeline.tampering = {rule};
  Stage stage(options);
  stage.memory.put(readable, std::string(24, '\0'));
  const auto tamper = [&stage](std::uint64_t call) { return stage.tamper(1, socketcall, call, readable, Abi::i386); };
  CHECK(tamper(5) == nullptr);
  CHECK(tamper(4) == nullptr);
  CHECK(stage.tamper(1, socketcall, 5, 0, Abi::i386) == nullptr);
  CHECK(stage.notes.empty());
  const trace::Tampering* chosen = tamper(5);
  REQUIRE(chosen != nullptr);
  CHECK(chosen->result->value == 5);
  CHECK(chosen->poke_enter.empty());
  CHECK(stage.notes ==
        "poke_tcb: Failed to tamper with process 1: argument 2 is not in a register, as the call goes through another "
        "one\n");
}

TEST_CASE("a call through another one that was interrupted is resumed under its name") {
  StageOptions options;
  options.pipeline.quiet.add(filter::Quiet::personality);
  Stage stage(options);
  stage.enter(1, ipc, 1, 7, 0, Abi::i386);
  stage.call(2, getpid);
  stage.exit(1, 0, Abi::i386);
  CHECK(stage.text().find("<... semop resumed>") != std::string::npos);
}

}  // namespace tracer::test
