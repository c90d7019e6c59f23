// A rule describes a cause of failure: a row with a trigger, and a function that checks whether the cause applies.
//
// To add a cause, write a function `std::optional<Finding> name(const Case&)` in the file of its subject in rules/. It
// returns what it found in the story and on the machine, or nothing if the cause does not apply. Then add a row to the
// table at the end of that file. Calls that a row names are traced. The test is a program that fails in this way, in
// tests/explain/causes_*.py.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "explain/prober.h"
#include "explain/story.h"
#include "explain/text_search.h"
#include "explain/value_source.h"

namespace tracer::explain {

/// The input of a rule.
struct Case {
  const Story& story;
  const Process& process;
  const Prober& prober;
  const Step* step = nullptr;  ///< the failed call, for rules with `calls`
  std::string messages;        ///< all that the process wrote to standard error
  std::string subject;         ///< the path of the failed call, of two the one that explains the error

  [[nodiscard]] const Call& call() const { return step->call; }
  [[nodiscard]] const std::string& path() const { return subject; }
  /// Returns the snapshot at the time of the call.
  [[nodiscard]] const std::optional<Snapshot>& snapshot() const { return prober.snapshot(); }
};

struct Finding {
  std::string rule;                    ///< name of the cause: "port-in-use"; empty: that of the row
  std::string cause;                   ///< a sentence without a full stop
  std::vector<std::string> looked_at;  ///< facts about the machine
  std::string remedy;                  ///< what to do, if possible as a command
  std::vector<const Step*> evidence;   ///< steps besides that of the case
  int weight = 0;                      ///< added to the weight of the row
  bool is_said = false;                ///< the messages name the cause in words of their own
  bool describes_exit = false;         ///< describes how the process ended, not why; any other answer outranks it
};

/// Adds to the cause and the remedy what names the value at fault; nothing if that is unknown.
void name_source(Finding& finding, const ValueSource& source);

struct Rule {
  std::string_view name;
  int weight = 0;            ///< how strongly the trigger alone suggests the cause
  std::string_view calls;    ///< triggered by failed calls: names separated by blanks; "*": any traced call
  std::string_view errors;   ///< errors of these calls; "": any
  std::string_view message;  ///< or by text on standard error: alternatives separated by |
  std::string_view signals;  ///< or by one of these fatal signals; "exit": any unsuccessful exit
  std::optional<Finding> (*check)(const Case&);
};

}  // namespace tracer::explain
