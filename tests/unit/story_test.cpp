// The story of a run has bounds, whatever its processes do.
#include <string>

#include "catch.h"
#include "explain/story.h"

namespace {

using namespace tracer::explain;

Argument argument(const std::string& name, const std::vector<std::string>& words) {
  Argument result;
  result.name = name;
  result.value.kind = Value::Kind::list;
  for (const std::string& word : words) {
    Value value;
    value.kind = Value::Kind::text;
    value.text = word;
    result.value.members.push_back({"", value});
  }
  return result;
}

Call execution(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
  Call call;
  call.name = "execve";
  call.outcome = CallOutcome::returned;
  call.args = {argument("argv", words), argument("envp", environment)};
  return call;
}

ExitInfo status(int number) {
  ExitInfo exit;
  exit.status = number;
  return exit;
}

constexpr std::size_t most = 20000;

}  // namespace

TEST_CASE("processes that failed are dropped, the oldest first") {
  Story story(false, true, false);
  story.appeared(1);
  const pid_t last = 50000;
  for (pid_t child = 2; child <= last; ++child) {
    story.fork(1, child, false, {});
    story.exited(child, child, {}, status(1));
  }
  CHECK(story.processes().size() == most);
  CHECK(story.first() != nullptr);
  CHECK(story.find(last) != nullptr);
  CHECK(story.find(2) == nullptr);
}

TEST_CASE("a process whose child lives is kept, one that ended well goes first") {
  Story story(false, true, false);
  story.appeared(1);
  story.fork(1, 2, false, {});
  story.fork(2, 3, false, {});
  story.exited(2, 2, {}, status(1));
  story.fork(1, 4, false, {});
  story.exited(4, 4, {}, status(1));
  story.fork(1, 5, false, {});
  story.exited(5, 5, {}, status(0));
  for (pid_t child = 6; story.processes().size() < most; ++child) {
    story.fork(1, child, false, {});
  }
  story.fork(1, 90000, false, {});
  CHECK(story.find(5) == nullptr);
  CHECK(story.find(4) != nullptr);
  story.fork(1, 90001, false, {});
  CHECK(story.find(4) == nullptr);
  CHECK(story.find(2) != nullptr);
  story.exited(3, 3, {}, status(0));
  story.fork(1, 90002, false, {});
  story.fork(1, 90003, false, {});
  CHECK(story.find(3) == nullptr);
  CHECK(story.find(2) == nullptr);
}

TEST_CASE("a process that executes itself in a loop takes no more memory") {
  Story story(false, true, false);
  for (int i = 0; i < 300; ++i) {
    story.end_call(1, {1, {}, nullptr}, execution(std::vector<std::string>(100, std::string(1000, 'a')), {"A=1"}));
  }
  const Process& process = *story.first();
  CHECK(process.programs.size() == 300);
  CHECK(process.programs.kept().size() + process.programs.left_out() == 300);
  CHECK(process.programs.kept().size() < 100);
  CHECK(process.programs.back().args.size() < 20);
  for (const Step& step : process.steps) {
    CHECK(step.call.argument("argv").value.members.size() < 20);
  }
}

TEST_CASE("children share programs and environment with their parent") {
  Story story(false, true, false);
  story.end_call(1, {1, {}, nullptr}, execution({"a"}, {"A=1"}));
  story.fork(1, 2, false, {});
  story.end_call(2, {2, {}, nullptr}, execution({"b"}, {"A=1"}));
  CHECK(story.find(1)->environment == story.find(2)->environment);
  CHECK(story.find(1)->programs.kept().front() == story.find(2)->programs.kept().front());
  story.fork(2, 3, false, {});
  story.end_call(3, {3, {}, nullptr}, execution({"c"}, {"A=2"}));
  CHECK(*story.find(3)->environment == std::string("A=2", 4));
}

TEST_CASE("thousands of children that a process waited for leave the failure that was before them") {
  Story story(false, true, false);
  Call failed;
  failed.name = "openat";
  failed.outcome = CallOutcome::failed;
  failed.result = -1;
  failed.error = "ENOENT";
  story.appeared(1);
  story.end_call(1, {1, {}, nullptr}, failed);
  for (pid_t child = 2; child < 12000; ++child) {
    story.fork(1, child, false, {});
    story.exited(child, child, {}, status(0));
    Call waited;
    waited.name = "wait4";
    waited.outcome = CallOutcome::returned;
    waited.result = child;
    story.end_call(1, {1, {}, nullptr}, waited);
  }
  const std::deque<Step>& steps = story.first()->steps;
  CHECK(steps.size() <= 2000);
  CHECK(steps.front().call.error == "ENOENT");
  CHECK(steps.back().child == 11999);
}
