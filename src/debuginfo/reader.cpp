#include "debuginfo/reader.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <map>
#include <new>

#include "base/detached_process.h"
#include "debuginfo/sandbox.h"

namespace tracer::debuginfo {

namespace {

constexpr std::uint64_t memory = std::uint64_t{160} << 20;     // bytes, for small files
constexpr std::uint64_t most_memory = std::uint64_t{4} << 30;  // bytes, for any
constexpr std::uint64_t memory_per_byte = 4;                   // of a file
constexpr double seconds = 1;                                  // of processor time for a question, for small files
constexpr double bytes_per_second = 16 << 20;                  // more time for large ones
constexpr double costly_questions = 5;                         // that may take as long as that, …
constexpr double share = 0.05;                                 // … and of the time since the first one
constexpr int longest_wait = 30;                               // seconds, if the machine is busy
constexpr std::uint32_t most_files = 512;                      // that one process reads
constexpr std::size_t largest_message = std::size_t{256} << 20;

struct Header {
  std::size_t size = 0;  ///< of the message
  std::uint32_t file = 0;
  Reader::Answer answer = nullptr;
  std::array<bool, 3> has = {};  ///< descriptors that are sent along: object, debug, alternate
};

/// Sends a header and descriptors.
bool send_header(int socket, const Header& header, const std::array<int, 3>& descriptors) {
  std::array<int, 3> sent{};
  std::size_t count = 0;
  for (const int descriptor : descriptors) {
    if (descriptor >= 0) {
      sent[count++] = descriptor;
    }
  }
  iovec data{const_cast<Header*>(&header), sizeof header};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof sent)> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (count != 0) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* const first = CMSG_FIRSTHDR(&message);
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(first), sent.data(), count * sizeof(int));
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof header);
}

/// Receives a header and descriptors, of which it becomes the owner.
bool receive_header(int socket, Header& header, std::array<UniqueFd, 3>& descriptors) {
  iovec data{&header, sizeof header};
  std::array<int, 3> received{-1, -1, -1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof received)> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t size = -1;
  do {
    size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
  } while (size < 0 && errno == EINTR);
  const cmsghdr* const first = CMSG_FIRSTHDR(&message);
  if (first != nullptr && first->cmsg_type == SCM_RIGHTS) {
    std::memcpy(received.data(), CMSG_DATA(first), std::min(sizeof received, first->cmsg_len - CMSG_LEN(0)));
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < descriptors.size(); ++i) {
    descriptors[i].reset(header.has[i] && next < received.size() ? received[next++] : -1);
  }
  return size == static_cast<ssize_t>(sizeof header);
}

bool write_fully(int socket, const char* from, std::size_t size) {
  while (size != 0) {
    const ssize_t written = ::send(socket, from, size, MSG_NOSIGNAL);
    if (written < 0 && errno != EINTR) {
      return false;
    }
    const auto done = static_cast<std::size_t>(std::max<ssize_t>(written, 0));
    from += done;
    size -= done;
  }
  return true;
}

/// `wait` returns once there is something to read, or false to give up.
template <typename Wait>
bool read_fully(int socket, char* into, std::size_t size, Wait wait) {
  while (size != 0) {
    if (!wait()) {
      return false;
    }
    const ssize_t count = ::read(socket, into, size);
    if (count == 0 || (count < 0 && errno != EINTR)) {
      return false;
    }
    const auto done = static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    into += done;
    size -= done;
  }
  return true;
}

/// Answers questions until the tracer is gone.
void serve(int socket) {
  std::map<std::uint32_t, OpenedFile> files;
  for (;;) {
    Header header;
    std::array<UniqueFd, 3> descriptors;
    if (!receive_header(socket, header, descriptors) || header.size > largest_message) {
      return;
    }
    std::vector<char> bytes(header.size);
    if (!read_fully(socket, bytes.data(), bytes.size(), [] { return true; })) {
      return;
    }
    Input question(std::move(bytes));
    OpenedFile& file = files[header.file];
    if (descriptors[0].valid()) {
      file.files = {std::string(question.text()), std::move(descriptors[0]), std::move(descriptors[1]),
                    std::move(descriptors[2])};
    }
    Output answer;
    header.answer(file, question, answer);
    const std::size_t size = answer.bytes().size();
    if (!write_fully(socket, reinterpret_cast<const char*>(&size), sizeof size) ||
        !write_fully(socket, answer.bytes().data(), size)) {
      return;
    }
  }
}

/// The reader process: it ends with the tracer, as its socket does. It keeps no rights.
void run(int socket) {
  const char ready = 0;
  if (enter_sandbox(memory, most_memory) && write_fully(socket, &ready, sizeof ready)) {
    try {
      serve(socket);
    } catch (const std::exception&) {
      ::_exit(1);  // most likely std::bad_alloc: a file that is too hard to read
    }
  }
}

double processor_time(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) {
    return 0;
  }
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::uint64_t size_of(const UniqueFd& file) {
  struct ::stat status {};
  return file.valid() && ::fstat(file.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::uint64_t size_of(const ObjectFiles& files) {
  return size_of(files.object) + size_of(files.debug) + size_of(files.alternate);
}

}  // namespace

Reader::Reader(Note note) : note_(std::move(note)) {}

Reader::~Reader() {
  stop();
}

bool Reader::start() {
  auto process = start_detached(SOCK_STREAM, run);
  // Its limits are raised for large files, so it must have set them.
  char ready = 0;
  if (!process || !read_fully(process->socket.get(), &ready, sizeof ready, [] { return true; })) {
    return false;
  }
  socket_ = std::move(process->socket);
  pid_ = process->pid;
  process_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  ++starts_;
  files_ = 0;
  return true;
}

void Reader::stop() {
  socket_.reset();  // the process ends when it waits for a question, …
  if (process_.valid()) {
    ::syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);  // … and if it does not
  }
  process_.reset();
}

bool Reader::send(ReadFile& file, Answer answer, const Output& question) {
  const bool known = file.process_ == starts_;
  Output whole;
  if (!known) {
    file.number_ = ++files_;
    file.process_ = starts_;
    whole.text(file.files_.name);
    rlimit limit{};
    if (::prlimit(pid_, RLIMIT_DATA, nullptr, &limit) == 0) {
      const std::uint64_t more = std::min(size_of(file.files_), most_memory) * memory_per_byte;
      limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur + more, limit.rlim_max);
      ::prlimit(pid_, RLIMIT_DATA, &limit, nullptr);
    }
  }
  const ObjectFiles& files = file.files_;
  const std::array<int, 3> descriptors = {known ? -1 : files.object.get(), known ? -1 : files.debug.get(),
                                          known ? -1 : files.alternate.get()};
  Header header{whole.bytes().size() + question.bytes().size(), file.number_, answer, {}};
  for (std::size_t i = 0; i < descriptors.size(); ++i) {
    header.has[i] = descriptors[i] >= 0;
  }
  return send_header(socket_.get(), header, descriptors) &&
         write_fully(socket_.get(), whole.bytes().data(), whole.bytes().size()) &&
         write_fully(socket_.get(), question.bytes().data(), question.bytes().size());
}

bool Reader::read_all(char* into, std::size_t size, double budget) {
  const timespec start = [] {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now;
  }();
  const double used = processor_time(pid_);
  return read_fully(socket_.get(), into, size, [&] {
    for (;;) {
      pollfd one{socket_.get(), POLLIN, 0};
      const int ready = ::poll(&one, 1, 100);
      if (ready > 0) {
        return true;
      }
      timespec now{};
      ::clock_gettime(CLOCK_MONOTONIC, &now);
      if ((ready < 0 && errno != EINTR) || processor_time(pid_) - used > budget ||
          now.tv_sec - start.tv_sec > longest_wait) {
        return false;
      }
    }
  });
}

std::optional<Input> Reader::receive(ReadFile& file) {
  const auto now = std::chrono::steady_clock::now();
  file.first_ = file.first_ == decltype(now){} ? now : file.first_;
  const double for_one = seconds + static_cast<double>(size_of(file.files_)) / bytes_per_second;
  const std::chrono::duration<double> elapsed = now - file.first_;
  // A file can make each question cost nearly as much as one may, and a program can have us ask for ever.
  const double budget = std::min(for_one, costly_questions * for_one + share * elapsed.count() - file.used_);
  const double before = processor_time(pid_);
  std::size_t size = 0;
  if (!read_all(reinterpret_cast<char*>(&size), sizeof size, budget) || size > largest_message) {
    return std::nullopt;
  }
  std::vector<char> bytes(size);
  if (!read_all(bytes.data(), size, budget)) {
    return std::nullopt;
  }
  file.used_ += std::max(processor_time(pid_) - before, 0.0);
  return Input(std::move(bytes));
}

std::optional<Input> Reader::ask(ReadFile& file, Answer answer, const Output& question) {
  if (files_ >= most_files && file.process_ != starts_) {
    stop();
  }
  if (file.refused_ || !file.files_.object.valid() || (!socket_.valid() && !start())) {
    return std::nullopt;
  }
  std::optional<Input> answered = send(file, answer, question) ? receive(file) : std::nullopt;
  if (!answered) {
    stop();  // the next question about another file starts it again
    file.refused_ = true;
    if (note_) {
      note_("the debugging information of '" + file.files_.name + "' is not read: it takes too much memory or time");
    }
  }
  return answered;
}

}  // namespace tracer::debuginfo
