// Records of --format=json.
#include <csignal>

#include "bpf/captured_snapshot.h"
#include "catch.h"
#include "pipeline_stage.h"

namespace tracer::test {

namespace {

StageOptions json() {
  StageOptions options;
  options.json = true;
  return options;
}

}  // namespace

TEST_CASE("a call that has ended is one JSON record") {
  Stage stage(json());
  stage.call(10, close_fd, 3);
  CHECK(stage.text() ==
        R"({"v":1,"type":"syscall","ts":43200001000000,"pid":10,"tid":10,"comm":"prog","abi":"x86_64","nr":1,)"
        R"("name":"close","args":[{"name":"fd","type":"fd","raw":3,"value":3}],"ret":0,"dur":1000000})"
        "\n");
}

TEST_CASE("records of threads are never torn") {
  Stage stage(json());
  stage.tgid = 10;
  stage.enter(10, close_fd, 3);
  stage.call(11, getpid, 0, 10);
  stage.exit(10, -9);
  const std::string text = stage.text();
  const auto end = text.find('\n');
  CHECK(text.substr(0, end).find(
            R"("tid":11,"comm":"prog","abi":"x86_64","nr":0,"name":"getpid","args":[],"ret":10)") != std::string::npos);
  CHECK(text.substr(end + 1).find(R"("tid":10,)") != std::string::npos);
  CHECK(text.substr(end + 1).find(R"("ret":-1,"errno":"EBADF")") != std::string::npos);
}

TEST_CASE("a call without an end says what ended it") {
  Stage killed(json());
  killed.enter(10, wait_for, 3, 0x1000);
  killed.happens(10, trace::Exited{SIGKILL});
  CHECK(killed.text().find(R"("ret":null,"unfinished":"exit"})"
                           "\n") != std::string::npos);
  CHECK(killed.text().find(R"("type":"exit","ts":43200002000000,"pid":10,"tid":10,"comm":"prog","signal":"SIGKILL",)"
                           R"("core":false})") != std::string::npos);

  Stage detached(json());
  detached.enter(10, wait_for, 3, 0x1000);
  detached.happens(10, trace::Detached{});
  CHECK(detached.text().find(R"("unfinished":"detach"})") != std::string::npos);
}

TEST_CASE("forks, programs, stops and signals are records too") {
  Stage stage(json());
  stage.happens(10, trace::Fork{11, true});
  stage.happens(10, trace::Exec{10});
  stage.happens(10, trace::GroupStop{SIGSTOP});
  stage.happens(10, trace::SignalStop{SIGUSR1, {}});
  const std::string text = stage.text();
  CHECK(text.find(R"("type":"fork","ts":43200001000000,"pid":10,"tid":10,"comm":"prog","child":11,"thread":true})") !=
        std::string::npos);
  CHECK(text.find(R"("type":"exec")") != std::string::npos);
  CHECK(text.find(R"("type":"stop")") != std::string::npos);
  CHECK(text.find(R"("type":"signal","ts":43200004000000,"pid":10,"tid":10,"comm":"prog","signal":"SIGUSR1"})") !=
        std::string::npos);
}

TEST_CASE("lost events are reported where they are missing") {
  Stage records(json());
  records.enter(10, close_fd, 3);
  records.lose(3);
  records.exit(10);
  CHECK(records.text().starts_with("{\"v\":1,\"type\":\"lost\",\"events\":3}\n{\"v\":1,\"type\":\"syscall\","));
  Stage lines;
  lines.enter(10, close_fd, 3);
  lines.lose(3);
  lines.exit(10);
  CHECK(lines.text() ==
        "close(3 <unfinished ...>\n"
        "+++ 3 events lost here +++\n"
        "<... close resumed>)                    = 0\n");
}

TEST_CASE("a call whose exit may be lost is not said to be unfinished") {
  for (const bool goes_on : {true, false}) {
    CAPTURE(goes_on);
    const auto lose_exit = [&](Stage& stage) {
      stage.enter(10, read_fd, 0, 0x1000);
      stage.lose(2);
      goes_on ? stage.enter(10, close_fd, 3) : stage.happens(10, trace::Exited{0});
    };
    Stage records(json());
    lose_exit(records);
    CHECK(records.text().find(R"("raw":0,"value":0}],"ret":null,"unfinished":"lost"})") != std::string::npos);
    Stage lines;
    lose_exit(lines);
    CHECK(lines.text().find("<... read resumed> <unfinished ...>)    = ? <lost>\n") != std::string::npos);
    StageOptions options;
    options.pipeline.filter.end.status = {filter::CallStatus::unfinished};
    Stage chosen(options);
    lose_exit(chosen);
    CHECK(chosen.text().find("read(") == std::string::npos);
  }
  Stage died(json());
  died.lose(2);
  died.enter(10, read_fd, 0, 0x1000);
  died.happens(10, trace::Exited{0});
  CHECK(died.text().find(R"("ret":null,"unfinished":"exit"})") != std::string::npos);
}

TEST_CASE("an argument of a call without an end is an address, not null, if it was not read") {
  Stage stage(json());
  stage.enter(10, resize, 0x1000);
  stage.happens(10, trace::Exited{SIGKILL});
  CHECK(stage.text().find(R"("raw":4096,"value":"0x1000"}],"ret":null)") != std::string::npos);
}

TEST_CASE("names are asked for with the snapshot of the event") {
  Stage stage(json());
  const bpf::CapturedSnapshot snapshot({}, {}, nullptr);
  stage.memory.then = &snapshot;
  stage.enter(10, close_fd, 7);
  CHECK(stage.descriptors.asked.tid == 10);
  CHECK(stage.descriptors.asked.snapshot == &snapshot);
  CHECK(stage.processes.asked.tid == 10);
  CHECK(stage.processes.asked.snapshot == &snapshot);
  stage.memory.then = nullptr;
  stage.call(11, close_fd, 7);
  CHECK(stage.descriptors.asked.tid == 11);
  CHECK(stage.descriptors.asked.snapshot == nullptr);
  CHECK(stage.processes.asked.snapshot == nullptr);
}

TEST_CASE("events that are lost are in none of the files of threads") {
  for (const bool as_json : {false, true}) {
    StageOptions options;
    options.json = as_json;
    options.separate = true;
    Stage stage(options);
    stage.call(10, getpid, 0, 10);
    stage.lose(3);
    stage.call(10, getpid, 0, 10);
    CHECK(stage.text().empty());
    CHECK(stage.files.size() == 1);
    CHECK(stage.files[10].find("lost") == std::string::npos);
  }
}

TEST_CASE("a record of a new program says which other thread has called execve") {
  Stage stage(json());
  stage.tgid = 10;
  stage.happens(10, trace::Attached{});
  stage.happens(11, trace::Attached{});
  stage.enter(11, execve, 0);
  stage.happens(10, trace::Exec{11});
  CHECK(stage.text().find(R"("tid":10,"comm":"prog","former":11})") != std::string::npos);
  const auto before = stage.text().size();
  stage.happens(10, trace::Exec{10});
  CHECK(stage.text().find("former", before) == std::string::npos);
}

}  // namespace tracer::test
