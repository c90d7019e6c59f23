#include "replay/viewer/manual_page.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "base/child.h"
#include "base/unique_fd.h"

namespace tracer::replay::viewer {

namespace {

constexpr int not_found = 127;

/// Ignores what Ctrl-C and Ctrl-\ send to this process, as system(3) does.
class IgnoredKeys {
 public:
  IgnoredKeys() {
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignored, &interrupt_);
    ::sigaction(SIGQUIT, &ignored, &quit_);
  }
  IgnoredKeys(const IgnoredKeys&) = delete;
  IgnoredKeys& operator=(const IgnoredKeys&) = delete;
  ~IgnoredKeys() { restore(); }
  void restore() const {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGQUIT, &quit_, nullptr);
  }

 private:
  struct sigaction interrupt_ {};
  struct sigaction quit_ {};
};

/// Returns the exit status of man(1). `where`: it only looks for the page, and writes nothing.
int run_man(const ManualPage& page, bool where) {
  const IgnoredKeys keys;
  auto child = Child::fork();
  if (!child) {
    return not_found;
  }
  if (!child.value().valid()) {
    keys.restore();
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const UniqueFd input(::open(where ? "/dev/null" : "/dev/tty", O_RDWR | O_CLOEXEC));
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      ::dup2(input.get(), fd);
    }
    const char section[] = {page.section, 0};
    ::execlp("man", "man", where ? "-w" : "--", section, page.name.c_str(), nullptr);
    ::_exit(not_found);
  }
  const int status = child.value().wait();
  return WIFEXITED(status) ? WEXITSTATUS(status) : not_found;
}

}  // namespace

std::string missing_page(const ManualPage& page) {
  const bool is_plain = !page.name.empty() && std::all_of(page.name.begin(), page.name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
  const int status = is_plain ? run_man(page, true) : 1;
  return status == 0 ? ""
         : status == not_found
             ? "man(1) is not installed (Debian: man-db)"
             : "there is no manual page " + page.name + "(" + page.section + ") (Debian: manpages-dev)";
}

void show_page(const ManualPage& page) {
  static_cast<void>(run_man(page, false));
}

}  // namespace tracer::replay::viewer
