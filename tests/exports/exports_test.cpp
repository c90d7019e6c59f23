// What all exports share: processes, what execve changed, command lines.
#include <string>
#include <vector>

#include "catch.h"
#include "pipeline/exports/process_table.h"
#include "pipeline/exports/shell_words.h"
#include "pipeline/exports/tree.h"

namespace {

using namespace tracer::pipeline::exports;
using namespace std::chrono_literals;

/// Notes who appears and goes.
struct Notes final : Exporter {
  std::string text;

  void process_appears(const Process& process) override {
    text += "+P" + std::to_string(process.id) + "<" + std::to_string(process.parent) + " ";
  }
  void thread_appears(const Thread& thread) override { text += "+T" + std::to_string(thread.tid) + " "; }
  void thread_goes(const Thread& thread) override { text += "-T" + std::to_string(thread.tid) + " "; }
  void process_goes(const Process& process) override { text += "-P" + std::to_string(process.id) + " "; }
  void finish() override {}
};

}  // namespace

TEST_CASE("a pid that comes back is another process") {
  Notes notes;
  ProcessTable table(notes);
  table.appears(10, 10, "a", 1ns);
  table.forks(10, 20, false, 2ns);
  table.appears(20, 20, "a", 3ns);
  table.goes(20);
  table.forks(10, 20, false, 4ns);
  table.appears(20, 20, "a", 5ns);
  table.goes(20);
  table.goes(10);
  CHECK(notes.text == "+P1<0 +T10 +P2<1 +T20 -T20 -P2 +P3<1 +T20 -T20 -P3 -T10 -P1 ");
}

TEST_CASE("a process that executes programs for ever takes no more memory") {
  struct Last final : Exporter {
    Process process;
    void executes(const Thread& thread) override { process = *thread.process; }
    void finish() override {}
  } last;
  ProcessTable table(last);
  table.appears(10, 10, "a", 1ns);
  for (int i = 0; i < 300; ++i) {
    Exec exec;
    exec.path = std::to_string(i);
    exec.arguments.assign(100, std::string(1000, 'a'));
    table.executes(10, "a", exec, {std::string(100000, 'A') + std::to_string(i)});
  }
  REQUIRE(last.process.execs.size() < 100);
  CHECK(last.process.execs.size() + last.process.execs_left_out == 300);
  CHECK(last.process.execs.front().path == "0");
  CHECK(last.process.execs.back().path == "299");
  for (const Exec& exec : last.process.execs) {
    CHECK(exec.arguments.size() + exec.arguments_left_out == 100);
    CHECK(exec.arguments.size() < 20);
    CHECK(exec.cut);
  }
  CHECK(last.process.execs.back().environment_changes.size() + last.process.execs.back().changes_left_out == 2);
}

TEST_CASE("a process lives as long as its last thread") {
  Notes notes;
  ProcessTable table(notes);
  table.appears(10, 10, "a", 1ns);
  table.forks(10, 11, true, 2ns);
  table.appears(11, 10, "a", 3ns);
  table.goes(10);
  table.goes(11);
  CHECK(notes.text == "+P1<0 +T10 +T11 -T10 -T11 -P1 ");
}

TEST_CASE("a thread that executes a program takes the leader's id and was another thread until then") {
  Notes notes;
  ProcessTable table(notes);
  table.appears(10, 10, "a", 1ns);
  table.appears(11, 10, "a", 2ns);
  auto former = table.supersede(11);
  REQUIRE(former);
  CHECK(former->tid == 11);
  table.goes(11);
  table.executes(10, "b", {}, {});
  table.retire(std::move(former));
  CHECK(table.of(10).command == "b");
  table.goes(10);
  CHECK(notes.text == "+P1<0 +T10 +T11 -T11 -T10 -P1 ");
}

TEST_CASE("the environment of a child is compared with that of its parent") {
  struct Execs final : Exporter {
    std::vector<std::string> changes;
    void executes(const Thread& thread) override { changes = thread.process->execs.back().environment_changes; }
    void finish() override {}
  } execs;
  ProcessTable table(execs);
  table.appears(10, 10, "a", 1ns);
  table.executes(10, "a", {}, {"HOME=/", "LANG=C"});
  CHECK(execs.changes.empty());
  table.forks(10, 20, false, 2ns);
  table.appears(20, 20, "a", 3ns);
  table.executes(20, "b", {}, {"LANG=de", "X=1"});
  CHECK(execs.changes == std::vector<std::string>{"LANG=de", "+X=1", "-HOME"});
}

TEST_CASE("words for a shell") {
  CHECK(shell_words({"ls", "-l", "/tmp"}) == "ls -l /tmp");
  CHECK(shell_words({"sh", "-c", "a | b"}) == "sh -c 'a | b'");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("$(rm) \"x\" \\") == "'$(rm) \"x\" \\'");
  CHECK(shell_word("a\nb\xff'\\") == "$'a\\nb\\377\\'\\\\'");
  CHECK(shell_words({"A=b", "C=d"}) == "'A=b' C=d");
  CHECK(shell_word("~/x") == "'~/x'");
}

TEST_CASE("bytes of a value") {
  const auto read = [](const char* text, bool& cut) { return bytes_of(read_json(text).get(), cut); };
  bool cut = false;
  CHECK(read(R"(["a"])", cut).empty());
  CHECK(bytes_of(json_array_get(read_json(R"(["a\u0000b"])").get(), 0), cut) == std::string("a\0b", 3));
  CHECK(read(R"({"bytes":"00ff7a"})", cut) == std::string("\0\xff"
                                                          "z",
                                                          3));
  CHECK_FALSE(cut);
  CHECK(read(R"({"string":"abc","truncated":true})", cut) == "abc");
  CHECK(cut);
}

TEST_CASE("a chain of forks does not take its square in output") {
  std::string text;
  Tree tree([&text](std::string_view part) { text += part; });
  ProcessTable table(tree);
  table.appears(1, 1, "a", 1ns);
  for (pid_t pid = 1; pid < 2000; ++pid) {
    table.forks(pid, pid + 1, false, 1ns);
    table.appears(pid + 1, pid + 1, "a", 1ns);
  }
  tree.finish();
  CHECK(text.size() < 2000 * 500);
  CHECK(text.find("a(2000)") != std::string::npos);
}
