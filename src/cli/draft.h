// The state of the parser: the options so far, and what only the final checks need. Private to this directory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/option_table.h"
#include "cli/options.h"
#include "cli/parser.h"
#include "filter/syscall_set.h"

namespace tracer::cli {

struct Failure {
  std::string message;      ///< without the program's name
  bool hint = false;        ///< add the line that refers to -h
  std::string remedy = {};  ///< `; it takes A|B`, or nothing; strace has no such text
};
/// Empty: there is no error.
using Applied = std::optional<Failure>;

struct Draft {
  Options options;
  filter::SyscallNames names;

  // How often the short form was given, and whether the long form was given.
  unsigned short_daemonize = 0;
  bool long_daemonize = false;
  unsigned short_follow_forks = 0;
  bool long_follow_forks = false;
  bool output_separately = false;
  bool deprecated_follow = false;
  unsigned short_timestamps = 0;
  bool long_timestamps = false;
  unsigned short_strings_in_hex = 0;
  bool long_strings_in_hex = false;
  unsigned short_decode_fds = 0;
  bool long_decode_fds = false;
  unsigned short_quiet = 0;
  bool long_quiet = false;
  unsigned stack_traces = 0;
  bool successful_only = false;
  bool failed_only = false;
  unsigned status_options = 0;  // -z and -Z together
  bool interruptible_given = false;
  bool sort_given = false;
  bool columns_given = false;
  bool frame_limit_given = false;
  bool unwinder_given = false;
  bool weight_given = false;
  bool bpf_buffer_given = false;
  unsigned versions = 0;

  void warn(const std::string& message) { options.warnings.push_back(options.program_name + ": " + message + "\n"); }
};

/// Adds the remedy of the option to an error.
Applied with_remedy(Applied applied, const OptionRow& row);

/// Applies an option that is also a qualifier of -e.
Applied apply_qualifier(Draft& draft, OptionId id, std::string_view value);

/// Applies the argument of -e.
Applied apply_expression(Draft& draft, std::string_view text);

/// Checks what --record and --replay exclude.
Applied finish_trace_files(Options& options);

/// Checks for contradictions in strace's order, and applies the defaults that depend on other options. `user` is the
/// user that runs the tracer.
Applied finish(Draft& draft, uid_t user);

}  // namespace tracer::cli
