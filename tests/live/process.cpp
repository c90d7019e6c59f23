#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace tracer::live {

namespace {

bool has_words(const std::string& line, const std::string& words) {
  return (" " + line + " ").find(" " + words + " ") != std::string::npos;
}

}  // namespace

Patience::Patience() {
  const char* wished = std::getenv("TRACER_LIVE_PATIENCE");
  left_ = std::chrono::seconds(wished != nullptr ? std::atoi(wished) : 20);
}

std::chrono::milliseconds Patience::next() {
  constexpr std::chrono::milliseconds between_looks{100};
  const auto now = std::chrono::steady_clock::now();
  left_ -= std::min<std::chrono::steady_clock::duration>(now - last_, 2 * between_looks);
  last_ = now;
  return left_.count() > 0 ? between_looks : std::chrono::milliseconds(0);
}

Process::Process(const std::vector<std::string>& args, bool with_errors) {
  int in[2];
  int out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) {
    throw std::runtime_error("pipe2");
  }
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    if (with_errors) {
      ::dup2(out[1], STDERR_FILENO);
    }
    std::vector<char*> pointers;
    for (const std::string& arg : args) {
      pointers.push_back(const_cast<char*>(arg.c_str()));
    }
    pointers.push_back(nullptr);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  input_.reset(in[1]);
  output_.reset(out[0]);
}

Process::~Process() {
  if (!waited_ && pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void Process::signal(int number) const {
  ::kill(pid_, number);
}

void Process::say(const std::string& line) const {
  const std::string text = line + "\n";
  [[maybe_unused]] const ssize_t written = ::write(input_.get(), text.data(), text.size());
}

bool Process::read_more(Patience& patience) {
  pollfd waiting{output_.get(), POLLIN, 0};
  int ready = 0;
  while (ready == 0) {
    const auto time = patience.next();
    ready = time.count() == 0 ? -1 : ::poll(&waiting, 1, static_cast<int>(time.count()));
  }
  if (ready < 0) {
    return false;
  }
  char buffer[65536];
  const ssize_t count = ::read(output_.get(), buffer, sizeof buffer);
  if (count <= 0) {
    return false;
  }
  pending_.append(buffer, static_cast<std::size_t>(count));
  return true;
}

std::optional<std::string> Process::line() {
  Patience patience;
  std::size_t end = 0;
  while ((end = pending_.find('\n')) == std::string::npos) {
    if (!read_more(patience)) {
      return std::nullopt;
    }
  }
  std::string found = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  return found;
}

bool Process::reaches(const std::string& expected) {
  while (const auto got = line()) {
    if (*got == expected) {
      return true;
    }
  }
  return false;
}

std::vector<std::string> Process::up_to(const std::string& words) {
  std::vector<std::string> lines;
  while (auto next = line()) {
    lines.push_back(std::move(*next));
    if (has_words(lines.back(), words)) {
      break;
    }
  }
  return lines;
}

std::vector<std::string> Process::rest() {
  std::vector<std::string> lines;
  for (Patience patience; read_more(patience); patience = Patience()) {
  }
  std::size_t start = 0;
  for (std::size_t end = 0; (end = pending_.find('\n', start)) != std::string::npos; start = end + 1) {
    lines.push_back(pending_.substr(start, end - start));
  }
  pending_.clear();
  return lines;
}

std::optional<int> Process::wait() {
  int status = 0;
  if (!becomes_true([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; })) {
    return std::nullopt;
  }
  waited_ = true;
  return status;
}

bool Process::stops() {
  int status = 0;
  return becomes_true([&] { return ::waitpid(pid_, &status, WNOHANG | WUNTRACED) == pid_; }) && WIFSTOPPED(status);
}

std::string status_field(pid_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name + ":\t", 0) == 0) {
      return line.substr(name.size() + 2);
    }
  }
  return {};
}

bool runs_untraced(pid_t pid) {
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", failed)) {
    const pid_t tid = std::atoi(entry.path().filename().c_str());
    const std::string state = status_field(tid, "State");
    if (status_field(tid, "TracerPid") != "0" || state.empty() || state[0] == 't' || state[0] == 'T') {
      return false;
    }
  }
  return !failed;
}

void pause_briefly(std::chrono::microseconds time) {
  ::usleep(static_cast<useconds_t>(time.count()));
}

int rounds(int by_default) {
  const char* wished = std::getenv("TRACER_LIVE_ROUNDS");
  return wished != nullptr ? std::atoi(wished) : by_default;
}

std::optional<std::string> find_line(const std::vector<std::string>& lines, const std::string& words) {
  for (const std::string& line : lines) {
    if (has_words(line, words)) {
      return line;
    }
  }
  return std::nullopt;
}

long count_lines(const std::vector<std::string>& lines, const std::string& words) {
  long count = 0;
  for (const std::string& line : lines) {
    count += has_words(line, words) ? 1 : 0;
  }
  return count;
}

}  // namespace tracer::live
