// When the tracer polls for stops, and when it sleeps for them.

#include "ptrace/poll_tuner.h"
#include "catch.h"

namespace tracer {
namespace {

using std::chrono::microseconds;

/// A machine on which a stop comes so long after the one before.
struct Machine {
  microseconds asleep;
  microseconds polling;
};

/// Lets so many stops come; how many of them were polled for.
unsigned polled(ptrace::PollTuner& tuner, ptrace::PollTuner::Time& now, const Machine& machine, unsigned stops) {
  unsigned count = 0;
  for (unsigned i = 0; i < stops; ++i) {
    count += tuner.polls() ? 1 : 0;
    now += tuner.polls() ? machine.polling : machine.asleep;
    tuner.came([&] { return now; });
  }
  return count;
}

constexpr Machine idle{microseconds(20), microseconds(10)};
constexpr Machine loaded{microseconds(5), microseconds(40)};
constexpr Machine indifferent{microseconds(20), microseconds(19)};
constexpr unsigned many = 100'000;

}  // namespace

TEST_CASE("the tracer polls where stops come sooner for it, and sleeps elsewhere") {
  ptrace::PollTuner::Time now{};
  ptrace::PollTuner tuner(true);
  CHECK(polled(tuner, now, idle, many) > many * 95 / 100);
  CHECK(polled(tuner, now, loaded, many) < many * 70 / 100);  // it takes until the next trial to notice
  CHECK(polled(tuner, now, loaded, many) < many * 2 / 100);
  ptrace::PollTuner other(true);
  CHECK(polled(other, now, indifferent, many) < many * 2 / 100);
}

TEST_CASE("the tracer does not poll where there is one CPU") {
  ptrace::PollTuner::Time now{};
  ptrace::PollTuner tuner(false);
  CHECK(polled(tuner, now, idle, many) == 0);
}

TEST_CASE("one pause of a tracee does not decide whether the tracer polls") {
  for (unsigned at = 0; at < 128; ++at) {
    ptrace::PollTuner::Time now{};
    ptrace::PollTuner tuner(true);
    polled(tuner, now, idle, at);
    now += std::chrono::seconds(1);
    polled(tuner, now, idle, 128 - at);
    CHECK(tuner.polls());
  }
}

TEST_CASE("the time that stops did not come while nobody expected them does not count") {
  ptrace::PollTuner::Time now{};
  ptrace::PollTuner tuner(true);
  for (unsigned i = 0; i < 40; ++i) {
    polled(tuner, now, idle, 32);
    now += std::chrono::seconds(1);
    tuner.resumed(now);
  }
  CHECK(tuner.polls());
}

}  // namespace tracer
