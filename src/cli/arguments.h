// Parses the arguments of single options. Private to this directory.
#pragma once

#include <string>
#include <string_view>

#include "cli/draft.h"
#include "cli/values.h"

namespace tracer::cli {

/// Returns the error `invalid -s argument: 'x'`.
[[nodiscard]] Failure bad_argument(const GivenOption& given);

/// Stores the value, or returns an error if there is none.
template <typename Value, typename Target>
Applied store(const GivenOption& given, const std::optional<Value>& value, Target& into) {
  if (!value) {
    return bad_argument(given);
  }
  into = static_cast<Target>(*value);
  return std::nullopt;
}

Applied attach(Draft& draft, std::string_view list);
RunAs read_user(const std::string& text);
Applied daemonize(Draft& draft, const GivenOption& given);
Applied interruptible(Draft& draft, const GivenOption& given);
Applied timestamps(Draft& draft, const GivenOption& given);
Applied precision_option(const GivenOption& given, unsigned otherwise, std::optional<unsigned>& into);
Applied strings_in_hex(Draft& draft, const GivenOption& given);
Applied const_style(Draft& draft, const GivenOption& given);
Applied stack_trace(Draft& draft, const GivenOption& given);
Applied color(Draft& draft, const GivenOption& given);
Applied output(Draft& draft, const std::string& target);
Applied summary_mode(Draft& draft, SummaryMode mode);
Applied sort_by(Draft& draft, const std::string& word);
Applied summary_columns(Draft& draft, std::string_view list);
Applied tips(Draft& draft, const GivenOption& given);
Applied errno_filter(Draft& draft, const GivenOption& given);
Applied engine(Draft& draft, const GivenOption& given);
Applied compat(Draft& draft, const GivenOption& given);
Applied stack_unwinder(Draft& draft, const GivenOption& given);
Applied folded_weight(Draft& draft, const GivenOption& given);
Applied bpf_buffer(Draft& draft, const GivenOption& given);
Applied record_last(Draft& draft, const GivenOption& given);
Applied record_when(Draft& draft, const GivenOption& given);
Applied output_format(Draft& draft, const GivenOption& given);

}  // namespace tracer::cli
