// Owner of a child process of the tracer's own, not of a tracee. Nothing else calls waitpid(2).
#pragma once

#include <sys/types.h>

#include <optional>
#include <utility>

#include "base/result.h"

namespace tracer {
inline namespace base {

/// It is waited for at the end of its owner at the latest, so that it leaves no zombie.
class Child {
 public:
  Child() = default;
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Child& operator=(Child&& other) noexcept {
    if (this != &other) {
      wait();
      pid_ = std::exchange(other.pid_, -1);
    }
    return *this;
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { wait(); }

  /// fork(2). The result owns the child in the parent and nothing in the child.
  static Result<Child> fork();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool valid() const { return pid_ > 0; }

  /// Waits until it has ended, and returns its status as from waitpid(2); 0 if it is unknown, because SIGCHLD was
  /// ignored. Then this owns nothing.
  int wait();
  /// The same if it has ended already.
  std::optional<int> ended();

 private:
  std::optional<int> collect(int options);

  pid_t pid_ = -1;
};

struct EndedChild {
  pid_t pid;
  int status;  ///< as from waitpid(2)
};

/// Collects a child that has ended, if there is one: `pid`, or -1 for any.
std::optional<EndedChild> collect_ended_child(pid_t pid = -1);

}  // namespace base
}  // namespace tracer
