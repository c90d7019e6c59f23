// How the open calls of a thread end.
#include <string>
#include <vector>

#include "arch/breakpoint.h"
#include "arch/syscall_abi.h"
#include "catch.h"
#include "functions/call_stack.h"

namespace tracer {
namespace {

using functions::CallEnds;
using functions::CallStack;
using functions::OpenCall;

/// What has ended, as text: the call's number and how.
class EndLog final : public CallEnds {
 public:
  void end(const OpenCall& call, How how) override { log_.push_back(std::to_string(call.number) + name_of(how)); }
  void end_in(pid_t, const OpenCall& call, How how) override { end(call, how); }

  std::vector<std::string> take() { return std::exchange(log_, {}); }

 private:
  static std::string name_of(How how) {
    switch (how) {
      case How::returned:
        return " returned";
      case How::again:
        return " again";
      case How::unwound:
        return " unwound";
      case How::lost:
        return " lost";
    }
    return {};
  }

  std::vector<std::string> log_;
};

/// A thread and its open calls.
struct Thread {
  CallStack calls;
  EndLog ends;
  std::uint64_t number = 0;

  bool enter(const trace::LibraryFunction& function, std::uint64_t stack_pointer, std::uint64_t return_address,
             bool by_stub = false, bool by_entry = false, bool sees_jumps = false) {
    OpenCall call{&function, 0, stack_pointer, return_address, by_stub, nullptr};
    if (!calls.start(call, by_entry, sees_jumps, ends)) {
      return false;
    }
    call.number = ++number;
    calls.push(call);
    return true;
  }
  void come_back(std::uint64_t address, std::uint64_t stack_pointer) {
    calls.come_back(address, arch::native_abi(), stack_pointer, ends);
  }
};

trace::LibraryFunction named(const char* name) {
  trace::LibraryFunction function;
  function.name = name;
  return function;
}

using Ended = std::vector<std::string>;
constexpr std::uint64_t top = 0x7fff'0000;
/// Bytes that a return takes off the stack: those of the return address, where calls put it there.
const std::uint64_t popped = arch::has_returned(arch::native_abi(), top, top) ? 0 : 8;
constexpr std::uint64_t caller = 0x40'1000;
constexpr std::uint64_t elsewhere = 0x40'2000;

}  // namespace

TEST_CASE("a call ends where it returns to, with its stack pointer") {
  const auto outer = named("outer");
  const auto inner = named("inner");
  Thread thread;
  CHECK(thread.enter(outer, top, caller));
  CHECK(thread.enter(inner, top - 64, elsewhere));
  thread.come_back(elsewhere, top - 128 + popped);  // a deeper call of the same place
  CHECK(thread.ends.take().empty());
  thread.come_back(elsewhere, top - 64 + popped);
  CHECK(thread.ends.take() == Ended{"2 returned"});
  thread.come_back(caller, top + popped);
  CHECK(thread.ends.take() == Ended{"1 returned"});
}

TEST_CASE("a function that ends in a jump to another one returns with it") {
  const auto first = named("first");
  const auto second = named("second");
  Thread thread;
  CHECK(thread.enter(first, top, caller));
  CHECK(thread.enter(second, top, caller));
  thread.come_back(caller, top + popped);
  CHECK(thread.ends.take() == Ended{"2 returned", "1 returned"});
}

TEST_CASE("a function that starts again where it is open has jumped to itself, or another jump went unseen") {
  const auto again = named("again");
  Thread thread;
  CHECK(thread.enter(again, top, caller));
  CHECK(thread.enter(again, top, caller, false, false, true));
  thread.come_back(caller, top + popped);
  CHECK(thread.ends.take() == Ended{"2 returned", "1 returned"});
  CHECK(thread.enter(again, top, caller));
  CHECK(thread.enter(again, top, caller));
  CHECK(thread.ends.take() == Ended{"3 unwound"});
}

TEST_CASE("the jump of a stub is no second call, but where entries are asked for") {
  const auto at_stub = named("puts");
  const auto at_function = named("puts");
  Thread thread;
  CHECK(thread.enter(at_stub, top, caller, true));
  CHECK_FALSE(thread.enter(at_function, top, caller));
  CHECK(thread.enter(at_function, top, caller, false, true));
  CHECK(thread.ends.take().empty());
}

TEST_CASE("calls whose stack is in use for others are over") {
  const auto outer = named("outer");
  const auto inner = named("inner");
  Thread thread;
  CHECK(thread.enter(outer, top, caller));
  CHECK(thread.enter(inner, top - 64, elsewhere));
  CHECK(thread.enter(inner, top - 32, elsewhere));
  CHECK(thread.ends.take() == Ended{"2 unwound"});
  thread.calls.drop_unwound(top + 1, thread.ends);  // a long jump has landed
  CHECK(thread.ends.take() == Ended{"3 unwound", "1 unwound"});
}

TEST_CASE("setjmp returns again, also in a new process") {
  const auto setjmp = named("setjmp");
  Thread thread;
  CHECK(thread.enter(setjmp, top, caller));
  thread.come_back(caller, top + popped);
  CHECK(thread.ends.take() == Ended{"1 returned"});
  Thread child;
  child.calls.inherit(thread.calls);
  for (Thread* one : {&thread, &child}) {
    one->come_back(caller, top + popped);
    CHECK(one->ends.take() == Ended{"1 again"});
  }
}

TEST_CASE("a coroutine goes on with the calls that it was in") {
  const auto swap = named("swapcontext");
  const auto work = named("work");
  constexpr std::uint64_t other_stack = 0x1000'0000;
  Thread thread;
  CHECK(thread.enter(swap, top, caller));                       // to the coroutine …
  CHECK(thread.enter(work, other_stack, elsewhere));            // … which works …
  CHECK(thread.enter(swap, other_stack - 64, elsewhere + 16));  // … and back
  thread.come_back(caller, top + popped);
  CHECK(thread.ends.take() == Ended{"1 returned"});
  CHECK(thread.enter(swap, top, caller));
  thread.come_back(elsewhere + 16, other_stack - 64 + popped);
  CHECK(thread.ends.take() == Ended{"3 returned"});
  thread.come_back(elsewhere, other_stack + popped);
  CHECK(thread.ends.take() == Ended{"2 returned"});
}

TEST_CASE("the end of a thread loses its calls") {
  const auto outer = named("outer");
  const auto inner = named("inner");
  Thread thread;
  CHECK(thread.enter(outer, top, caller));
  CHECK(thread.enter(inner, top - 64, elsewhere));
  thread.calls.lose_all(thread.ends);
  CHECK(thread.ends.take() == Ended{"2 lost", "1 lost"});
}

}  // namespace tracer
