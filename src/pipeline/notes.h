// What the pipeline reports on standard error beside the trace.
#pragma once

#include <fmt/core.h>
#include <sys/types.h>

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/tampering.h"
#include "pipeline/view.h"

namespace tracer::pipeline {

/// Writes one line, which it gets without prefix and newline, to standard error.
using Note = std::function<void(std::string_view)>;

/// Writes notes after all that the view has written so far.
class Notes {
 public:
  /// `view` outlives this.
  Notes(Note note, View& view) : note_(std::move(note)), view_(view) {}

  void say(std::string_view sentence) const { note_(sentence); }
  void process(pid_t pid, std::string_view what) const {
    view_.show_all();
    note_(fmt::format("Process {} {}", pid, what));
  }
  void limit_reached() const {
    view_.show_all();
    note_("System call limit has been reached, detaching tracees");
  }
  void poked(pid_t pid, const trace::Tampered& tampered) const {
    if (tampered.poke_failed) {
      failed_poke(pid, "couldn't poke");
    }
  }
  void failed_poke(pid_t pid, std::string_view why) const {
    view_.show_all();
    note_(fmt::format("poke_tcb: Failed to tamper with process {}: {}", pid, why));
  }

  /// Says which arguments, counted from 0, cannot be tampered with because the call does not have them.
  void missing(const std::vector<std::size_t>& arguments, const TamperRules::Choice& choice, pid_t pid,
               bool is_direct) const {
    for (const std::size_t argument : arguments) {
      failed_poke(
          pid,
          is_direct
              ? fmt::format("requested to tamper with argument #{}, but system call '{}' has only {} arguments",
                            argument + 1, choice.call, choice.argument_count)
              : fmt::format("argument {} is not in a register, as the call goes through another one", argument + 1));
    }
  }

 private:
  Note note_;
  View& view_;
};

}  // namespace tracer::pipeline
