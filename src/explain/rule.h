// What a cause of failure is to the explainer: a row with a trigger, and a function that looks whether it holds.
//
// To add a cause: write a function `std::optional<Finding> name(const Case&)` in the rules_*.cpp of its subject, which
// returns what it found in the story and on the machine, or nothing where the trigger was no cause; and a row in the
// table at the end of that file. A call that no rule has named yet goes into the row, and is then watched. The test is
// a program that fails so, in tests/explain/causes.py.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "explain/prober.h"
#include "explain/story.h"
#include "explain/words.h"

namespace tracer::explain {

/// What a rule sees.
struct Case {
  const Story& story;
  const Process& process;
  const Prober& prober;
  const Step* step = nullptr;  ///< the failed call, for rules with `calls`
  std::string said;            ///< all that the process said on standard error

  [[nodiscard]] const Call& call() const { return step->call; }
  [[nodiscard]] const std::string& path() const { return step->path; }
  /// Of the time of the call.
  [[nodiscard]] const std::optional<Snapshot>& snapshot() const { return prober.snapshot(); }
};

struct Finding {
  std::string rule;                    ///< name for programs: "port-in-use"; empty: the row's
  std::string cause;                   ///< a sentence without a full stop
  std::vector<std::string> looked_at;  ///< what the machine said
  std::string remedy;                  ///< what to do, as a command where there is one
  std::vector<const Step*> evidence;   ///< besides the step of the case
  int weight = 0;                      ///< added to the row's
  bool tells_end = false;              ///< how it ended rather than why: of use where nothing better is known
};

struct Rule {
  std::string_view name;
  int weight = 0;            ///< how much such an event alone speaks for being the reason of the end
  std::string_view calls;    ///< a failed call: names, with blanks between; "*": any that is watched
  std::string_view errors;   ///< and its errors; "": any
  std::string_view says;     ///< or a text on standard error: alternatives, with | between
  std::string_view signals;  ///< or the death by one of these signals; "exit": any end that is not good
  std::optional<Finding> (*look)(const Case&);
};

}  // namespace tracer::explain
