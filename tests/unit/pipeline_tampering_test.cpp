// -e inject=: which calls are chosen, and what their records say.

#include "catch.h"
#include "pipeline_stage.h"

namespace tracer::test {

namespace {

pipeline::TamperRule fail(std::uint64_t number, std::uint64_t error) {
  pipeline::TamperRule rule;
  rule.calls.add(Abi::x86_64, number);
  rule.what.result = trace::Tampering::Result{error, true};
  return rule;
}

/// For each of `calls` calls in turn whether it is chosen.
std::string chosen(const pipeline::TamperRule& rule, int calls) {
  const spec::TableSet tables = test_tables();
  const pipeline::TamperRules rules({rule}, tables.view());
  pipeline::CallCounts counts;
  std::string which;
  for (int i = 0; i < calls; ++i) {
    which += rules.choose(Abi::x86_64, close_fd, counts).what != nullptr ? 'x' : '.';
  }
  return which;
}

trace::Tampered tampered_result() {
  trace::Tampered tampered;
  tampered.result = true;
  return tampered;
}

}  // namespace

TEST_CASE("when= counts calls from 1") {
  auto rule = fail(close_fd, 1);
  CHECK(chosen(rule, 4) == "xxxx");
  rule.first = 3;
  CHECK(chosen(rule, 5) == "..xxx");
  rule.last = 3;
  CHECK(chosen(rule, 5) == "..x..");
  rule.first = 2;
  rule.last = 6;
  rule.step = 2;
  CHECK(chosen(rule, 8) == ".x.x.x..");
  rule.step = 3;
  CHECK(chosen(rule, 8) == ".x..x...");
}

TEST_CASE("every call, ABI and thread is counted for itself") {
  const spec::TableSet tables = test_tables();
  auto rule = fail(close_fd, 1);
  rule.calls.add(Abi::x86_64, read_fd);
  rule.calls.add(Abi::i386, close_fd);
  rule.first = rule.last = 2;
  const pipeline::TamperRules rules({rule}, tables.view());
  pipeline::CallCounts one;
  pipeline::CallCounts other;
  CHECK(rules.choose(Abi::x86_64, close_fd, one).what == nullptr);
  CHECK(rules.choose(Abi::x86_64, read_fd, one).what == nullptr);
  CHECK(rules.choose(Abi::i386, close_fd, one).what == nullptr);
  CHECK(rules.choose(Abi::x86_64, close_fd, other).what == nullptr);
  CHECK(rules.choose(Abi::x86_64, close_fd, one).what != nullptr);
}

TEST_CASE("the last rule for a call counts alone") {
  const spec::TableSet tables = test_tables();
  auto second = fail(close_fd, 5);
  second.first = second.last = 2;
  const pipeline::TamperRules rules({fail(close_fd, 1), second}, tables.view());
  pipeline::CallCounts counts;
  CHECK(rules.choose(Abi::x86_64, close_fd, counts).what == nullptr);
  const auto choice = rules.choose(Abi::x86_64, close_fd, counts);
  REQUIRE(choice.what != nullptr);
  CHECK(choice.what->result->value == 5);
}

TEST_CASE("numbers that no table knows are left alone") {
  const spec::TableSet tables = test_tables();
  pipeline::TamperRule rule = fail(close_fd, 1);
  rule.calls = filter::SyscallSet::all();
  const pipeline::TamperRules rules({rule}, tables.view());
  CHECK(rules.mention(Abi::x86_64, close_fd));
  CHECK_FALSE(rules.mention(Abi::x86_64, 900));
  CHECK_FALSE(rules.mention(Abi::x86_64, ~std::uint64_t{0}));
}

TEST_CASE("arguments that a call does not have are not poked") {
  const spec::TableSet tables = test_tables();
  pipeline::TamperRule rule;
  rule.calls.add(Abi::x86_64, open_path);
  rule.what.poke_enter = {{0, {std::byte{'/'}}}, {3, {std::byte{'x'}}}};
  rule.what.poke_exit = {{5, {std::byte{'y'}}}};
  const pipeline::TamperRules rules({rule}, tables.view());
  pipeline::CallCounts counts;
  const auto choice = rules.choose(Abi::x86_64, open_path, counts);
  REQUIRE(choice.what != nullptr);
  REQUIRE(choice.what->poke_enter.size() == 1);
  CHECK(choice.what->poke_enter[0].argument == 0);
  CHECK(choice.what->poke_exit.empty());
  CHECK(*choice.missing_at_entry == std::vector<std::size_t>{3});
  CHECK(*choice.missing_at_exit == std::vector<std::size_t>{5});
  CHECK(choice.argument_count == 1);
}

TEST_CASE("an injected result is marked, before the duration") {
  StageOptions options;
  options.text.duration_digits = 6;
  Stage stage(options);
  stage.enter(1, close_fd, 3);
  trace::SyscallExit exit;
  exit.value = -1;
  exit.is_error = true;
  exit.tampered = tampered_result();
  exit.tampered.delayed = true;
  stage.happens(1, exit);
  CHECK(
      stage.text() ==
      "close(3)                                = -1 EPERM (Operation not permitted) (INJECTED) (DELAYED) <0.001000>\n");
}

TEST_CASE("an exit_group that does not run has a result") {
  Stage stage;
  trace::SyscallEnter enter;
  enter.number = exit_group;
  enter.tampered = tampered_result();
  stage.happens(1, enter);
  CHECK(stage.text() == "exit_group(0");
  trace::SyscallExit exit;
  exit.value = 5;
  exit.tampered = tampered_result();
  stage.happens(1, exit);
  CHECK(stage.text() == "exit_group(0)                           = 5 (INJECTED)\n");
}

TEST_CASE("JSON says what of a call was changed") {
  StageOptions options;
  options.json = true;
  Stage stage(options);
  stage.call(1, getpid);
  CHECK(stage.text().find("tampered") == std::string::npos);
  stage.enter(1, getpid);
  trace::SyscallExit exit;
  exit.tampered.arguments = exit.tampered.signal = true;
  stage.happens(1, exit);
  CHECK(stage.text().find(",\"tampered\":[\"arguments\",\"signal\"],\"dur\":") != std::string::npos);
}

}  // namespace tracer::test
