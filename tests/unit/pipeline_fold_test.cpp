// --fold: which calls become one line, and when that line is written.
#include "catch.h"
#include "pipeline/views/fold_rules.h"
#include "pipeline_stage.h"

namespace tracer::test {

namespace {

constexpr std::uint64_t path_of_library = 0x1000;
constexpr std::uint64_t path_of_notes = 0x2000;

StageOptions folding() {
  StageOptions options;
  options.fold = true;
  return options;
}

struct FoldingStage : Stage {
  explicit FoldingStage(StageOptions options = folding()) : Stage(std::move(options)) {
    memory.put(path_of_library, std::string("/lib/libx.so.6\0", 15));
    memory.put(path_of_notes, std::string("notes\0", 6));
  }
  void load_library(pid_t tid) {
    call(tid, open_path, path_of_library, 3);
    call(tid, read_fd, 3, 832);
    call(tid, close_fd, 3);
  }
};

}  // namespace

TEST_CASE("a run of noise is one line, which stands before the next call") {
  FoldingStage stage;
  stage.load_library(10);
  CHECK(stage.text().empty());
  stage.call(10, getpid, 0, 10);
  CHECK(stage.text() ==
        "... 3 calls: loader, 1 file, 3 ms\n"
        "getpid()                                = 10\n");
}

TEST_CASE("what follows a file that is no noise is shown") {
  FoldingStage stage;
  stage.call(10, open_path, path_of_notes, 3);
  stage.call(10, close_fd, 3);
  CHECK(stage.text() ==
        "open(\"notes\")                           = 3\n"
        "close(3)                                = 0\n");
}

TEST_CASE("one call alone keeps its line") {
  FoldingStage stage;
  stage.call(10, open_path, path_of_library, 3);
  stage.call(10, getpid, 0, 10);
  CHECK(stage.text() ==
        "open(\"/lib/libx.so.6\")                  = 3\n"
        "getpid()                                = 10\n");
}

TEST_CASE("the loader may miss a file, and no other error is folded") {
  FoldingStage stage;
  stage.call(10, open_path, path_of_library, -2);
  stage.call(10, open_path, path_of_library, -2);
  stage.call(10, open_path, path_of_library, -13);
  CHECK(stage.text() ==
        "... 2 calls: loader, 2 not found, 2 ms\n"
        "open(\"/lib/libx.so.6\")                  = -1 EACCES (Permission denied)\n");
}

TEST_CASE("directories that the loader tries, the locale's own and the time zone are noise") {
  const std::pair<std::string, std::string> files[] = {{"/opt/lib/tls", "loader"},
                                                       {"/opt/lib/haswell/x86_64", "loader"},
                                                       {"/usr/share/locale", "locale"},
                                                       {"/etc/localtime", "time zone"},
                                                       {"/usr/share/zoneinfo/Europe/Rome", "time zone"}};
  for (const auto& [path, label] : files) {
    FoldingStage stage;
    stage.memory.put(0x3000, path + '\0');
    stage.call(10, open_path, 0x3000, -2);
    stage.call(10, open_path, 0x3000, -2);
    stage.call(10, getpid, 0, 10);
    CHECK(stage.text() == "... 2 calls: " + label +
                              ", 2 not found, 2 ms\n"
                              "getpid()                                = 10\n");
  }
}

TEST_CASE("the first call of its kind is shown, and what repeats it is folded") {
  FoldingStage stage;
  for (int i = 0; i < 3; ++i) {
    stage.call(10, write_fd, 1, 100);
  }
  stage.call(10, write_fd, 2, 100);
  stage.call(10, write_fd, 1, 0);
  CHECK(stage.text() ==
        "write(1, NULL, 0)                       = 100\n"
        "... 2 calls: writes of 1, 2 ms\n"
        "write(2, NULL, 0)                       = 100\n"
        "write(1, NULL, 0)                       = 0\n");
}

TEST_CASE("a descriptor that was closed stands for something else") {
  FoldingStage stage;
  stage.call(10, write_fd, 4, 100);
  stage.call(10, close_fd, 4);
  stage.call(10, write_fd, 4, 100);
  CHECK(stage.text() ==
        "write(4, NULL, 0)                       = 100\n"
        "close(4)                                = 0\n"
        "write(4, NULL, 0)                       = 100\n");
}

TEST_CASE("a program that waits has no line to come") {
  FoldingStage stage;
  stage.load_library(10);
  stage.enter(10, open_path, path_of_library);
  stage.idle();
  CHECK(stage.flushed ==
        "... 3 calls: loader, 1 file, 3 ms\n"
        "open(\"/lib/libx.so.6\"");
  stage.exit(10, 3);
  CHECK(stage.text().ends_with("\nopen(\"/lib/libx.so.6\")                  = 3\n"));
}

TEST_CASE("a call that took long is shown, and so is one that waits while others go on") {
  FoldingStage slow;
  slow.enter(10, open_path, path_of_library);
  slow.wait(std::chrono::milliseconds(200));
  slow.exit(10, 3);
  slow.call(10, close_fd, 3);
  slow.call(10, getpid, 0, 10);
  CHECK(slow.text().starts_with("open(\"/lib/libx.so.6\")                  = 3\nclose(3) "));

  FoldingStage two;
  two.happens(11, trace::Attached{});
  two.enter(10, open_path, path_of_library);
  two.wait(std::chrono::milliseconds(200));
  two.call(11, getpid, 0, 11);
  CHECK(two.text() ==
        "[pid    10] open(\"/lib/libx.so.6\" <unfinished ...>\n"
        "[pid    11] getpid()                    = 11\n");
}

TEST_CASE("a long run shows a line each second") {
  FoldingStage stage;
  stage.call(10, write_fd, 1, 100);
  for (int i = 0; i < 1200; ++i) {
    stage.call(10, write_fd, 1, 100);
  }
  CHECK(stage.text() ==
        "write(1, NULL, 0)                       = 100\n"
        "... 501 calls: writes of 1, 501 ms\n"
        "... 501 calls: writes of 1, 501 ms\n");
}

TEST_CASE("signals and exits end a run") {
  FoldingStage stage;
  stage.load_library(10);
  stage.happens(10, trace::SignalStop{15, {}, 0});
  stage.load_library(10);
  stage.enter(10, read_fd, 3);
  stage.happens(10, trace::SyscallLost{});
  stage.happens(10, trace::Exited{9});
  CHECK(stage.text() ==
        "... 3 calls: loader, 1 file, 3 ms\n"
        "--- SIGTERM ---\n"
        "... 3 calls: loader, 1 file, 3 ms\n"
        "read(3 <unfinished ...>)                = ?\n"
        "+++ killed by SIGKILL +++\n");
}

TEST_CASE("threads fold for themselves, and a line that is open is split") {
  FoldingStage stage;
  stage.happens(11, trace::Attached{});
  stage.load_library(10);
  stage.enter(11, wait_for, 1);
  stage.call(10, getpid, 0, 10);
  stage.exit(11, 1);
  CHECK(stage.text() ==
        "[pid    11] wait(1 <unfinished ...>\n"
        "[pid    10] ... 3 calls: loader, 1 file, 3 ms\n"
        "[pid    10] getpid()                    = 10\n"
        "[pid    11] <... wait resumed>, NULL)   = 1\n");
}

TEST_CASE("a child inherits the loader's descriptors") {
  FoldingStage stage;
  stage.call(10, open_path, path_of_library, 3);
  stage.happens(10, trace::Fork{12, false});
  stage.happens(12, trace::Attached{});
  stage.call(12, read_fd, 3, 832);
  stage.call(12, close_fd, 3);
  stage.call(12, getpid, 0, 12);
  CHECK(stage.text().find("[pid    12] ... 2 calls: loader, 2 ms\n") != std::string::npos);
}

TEST_CASE("the line of a fold is dim") {
  StageOptions options = folding();
  options.text.calls.palette = render::Palette::default_colors();
  FoldingStage stage(std::move(options));
  stage.load_library(10);
  stage.idle();
  CHECK(stage.text() == "\033[02m... 3 calls: loader, 1 file, 3 ms\033[0m\n");
}

TEST_CASE("the line has the signs of the terminal") {
  using namespace pipeline::views;
  FoldTally tally;
  const FoldRule& rule = fold_rules().front();
  tally.add(rule, {"openat", "/lib/x.so", {}, 0}, {3, 0}, std::chrono::microseconds(7));
  tally.add(rule, {"openat", "/lib/y.so", {}, 0}, {3, 0}, std::chrono::microseconds(8));
  CHECK(tally.text(true) == "⋯ 2 calls: loader, 2 files, 15 µs");
  CHECK(tally.text(false) == "... 2 calls: loader, 2 files, 15 us");
}

}  // namespace tracer::test
