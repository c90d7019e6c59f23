// Files, pipes and what happens when they break.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>

#include "catch.h"
#include "pipeline/sink/patient_sink.h"
#include "pipeline/sink/sink.h"

namespace tracer::pipeline::sink {

namespace {

class Folder {
 public:
  Folder() { REQUIRE(::mkdtemp(name_) != nullptr); }
  ~Folder() {
    for (const char* file : {"out", "done"}) {
      ::unlink(path(file).c_str());
    }
    ::rmdir(name_);
  }
  [[nodiscard]] std::string path(const std::string& file) const { return std::string(name_) + "/" + file; }

 private:
  char name_[24] = "/tmp/tracer-sink-XXXXXX";
};

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Complaints {
  std::vector<std::string> said;
  Complain listener() {
    return [this](std::string_view sentence) { said.emplace_back(sentence); };
  }
};

bool closes_on_exec(int fd) {
  return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0;
}

}  // namespace

TEST_CASE("a file is replaced, or appended to with -A") {
  const Folder folder;
  Complaints complaints;
  const std::string path = folder.path("out");
  open_file(path, false, complaints.listener()).value()->write("one\n");
  CHECK(contents(path) == "one\n");
  open_file(path, true, complaints.listener()).value()->write("two\n");
  CHECK(contents(path) == "one\ntwo\n");
  open_file(path, false, complaints.listener()).value()->write("three\n");
  CHECK(contents(path) == "three\n");
  CHECK(complaints.said.empty());
}

TEST_CASE("what is written waits in the buffer until it is flushed or full") {
  const Folder folder;
  Complaints complaints;
  const auto sink = std::move(open_file(folder.path("out"), false, complaints.listener())).value();
  sink->write("line\n");
  CHECK(contents(folder.path("out")).empty());
  sink->flush();
  CHECK(contents(folder.path("out")) == "line\n");
  const std::string big(3 * FdSink::buffer_size, 'x');
  sink->write("a");
  sink->write(big);
  CHECK(contents(folder.path("out")) == "line\na" + big);
}

TEST_CASE("a file that cannot be opened is an error in strace's words") {
  Complaints complaints;
  const auto sink = open_file("/nonexistent/out", false, complaints.listener());
  REQUIRE_FALSE(sink);
  CHECK(sink.error().message == "Can't fopen '/nonexistent/out': No such file or directory");
}

TEST_CASE("a full disk is reported once, and later writes do no harm") {
  Complaints complaints;
  const auto sink = std::move(open_file("/dev/full", false, complaints.listener())).value();
  for (int i = 0; i < 3; ++i) {
    sink->write("line\n");
    sink->flush();
  }
  CHECK(complaints.said == std::vector<std::string>{"/dev/full: No space left on device"});
}

TEST_CASE("a command gets everything, and is waited for") {
  const Folder folder;
  Complaints complaints;
  const std::string command = "cat > " + folder.path("out") + "; sleep 0.1; echo yes > " + folder.path("done");
  std::move(open_command(command, '|' + command, complaints.listener())).value()->write("line\n");
  CHECK(contents(folder.path("out")) == "line\n");
  CHECK(contents(folder.path("done")) == "yes\n");
}

TEST_CASE("a patient file gets all that is written, and complains as others do") {
  const Folder folder;
  Complaints complaints;
  const auto never = [] { return false; };
  const std::string path = folder.path("out");
  std::string written;
  {
    const auto sink = std::move(PatientFiles(never, complaints.listener()).open(path, false)).value();
    for (const std::size_t size : {std::size_t{5}, FdSink::buffer_size, 3 * FdSink::buffer_size, std::size_t{1}}) {
      const std::string piece(size, static_cast<char>('a' + size % 26));
      sink->write(piece);
      written += piece;
    }
  }
  CHECK(contents(path) == written);
  CHECK(complaints.said.empty());
  PatientFiles(never, complaints.listener()).open("/dev/full", false).value()->write("line\n");
  CHECK(complaints.said == std::vector<std::string>{"/dev/full: No space left on device"});
}

TEST_CASE("a patient file that takes nothing keeps nobody who is to end") {
  const Folder folder;
  Complaints complaints;
  const std::string path = folder.path("out");
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const UniqueFd full(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  const std::string block(FdSink::buffer_size, 'x');
  while (::write(full.get(), block.data(), block.size()) > 0) {
  }
  const auto sink = std::move(PatientFiles([] { return true; }, complaints.listener()).open(path, true)).value();
  for (int i = 0; i < 4; ++i) {
    sink->write(block);
  }
  CHECK(complaints.said == std::vector<std::string>{path + ": it takes nothing, and the rest of the output is lost"});
}

TEST_CASE("patient files share a thread, and lose only what one of them does not take") {
  const Folder folder;
  Complaints complaints;
  {
    const PatientFiles files([] { return false; }, complaints.listener());
    const auto lost = files.open_or_drop(folder.path("missing/out"), false);
    const auto full = files.open_or_drop("/dev/full", false);
    const auto kept = files.open_or_drop(folder.path("out"), false);
    for (int i = 0; i < 2; ++i) {
      for (const auto& sink : {lost.get(), full.get(), kept.get()}) {
        sink->write("line\n");
        sink->flush();
      }
    }
  }
  CHECK(contents(folder.path("out")) == "line\nline\n");
  CHECK(complaints.said ==
        std::vector<std::string>{"Can't fopen '" + folder.path("missing/out") + "': No such file or directory",
                                 "/dev/full: No space left on device"});
}

TEST_CASE("a patient pipe without a reader keeps nobody who is to end") {
  const Folder folder;
  Complaints complaints;
  const std::string pipe = folder.path("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  {
    const PatientFiles files([] { return true; }, complaints.listener());
    const auto sink = files.open_or_drop(pipe, false);
    const auto other = files.open_or_drop(folder.path("out"), false);
    sink->write("line\n");
    other->write("line\n");
  }
  CHECK(complaints.said == std::vector<std::string>{pipe + ": it takes nothing, and the rest of the output is lost"});
  const UniqueFd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));  // lets the thread end
}

TEST_CASE("a command that exits is reported once") {
  Complaints complaints;
  {
    const auto sink = std::move(open_command("exec true", "|exec true", complaints.listener())).value();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (complaints.said.empty() && std::chrono::steady_clock::now() < end) {
      sink->write("line\n");
      sink->flush();
    }
    sink->write("line\n");
    sink->flush();
  }
  CHECK(complaints.said == std::vector<std::string>{"|exec true: Broken pipe"});
}

TEST_CASE("tracees inherit none of our descriptors") {
  const Folder folder;
  Complaints complaints;
  const int before = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(before);
  const auto file = std::move(open_file(folder.path("out"), false, complaints.listener())).value();
  const auto pipe = std::move(open_command("cat >/dev/null", "|cat >/dev/null", complaints.listener())).value();
  const auto terminal = std::move(open_standard_error(complaints.listener())).value();
  for (int fd = before; fd < before + 4; ++fd) {
    INFO("descriptor " << fd);
    CHECK(closes_on_exec(fd));
  }
}

}  // namespace tracer::pipeline::sink
