// Waiting for another thread that may never answer, as it writes to a file that takes nothing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace tracer {
inline namespace base {

/// Says whether the tracer is to end. Empty: who waits may wait for good.
using IsToEnd = std::function<bool()>;

/// How often in a row the answer is yes before who waits gives up: long before a watchdog would take it for lost
/// (process/watchdog.h).
inline constexpr unsigned last_look = 20;
/// The same at the end, when nobody is left who waits for the tracer but its user.
inline constexpr unsigned very_last_look = 10 * last_look;

/// Waits until `done`, for which somebody notifies `changed`. False: it gives up.
template <typename Done>
bool wait_patiently(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, const IsToEnd& is_to_end,
                    unsigned most_looks, const Done& done) {
  if (!is_to_end) {
    changed.wait(lock, done);
    return true;
  }
  constexpr std::chrono::milliseconds look_interval(20);
  for (unsigned looks = 0; !changed.wait_for(lock, look_interval, done);) {
    looks = is_to_end() ? looks + 1 : 0;
    if (looks == most_looks) {
      return false;
    }
  }
  return true;
}

}  // namespace base
}  // namespace tracer
