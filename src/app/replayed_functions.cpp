#include "app/replayed_functions.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace tracer::app {

void ReplayedFunctions::report_missed(const std::function<void(std::string_view)>& complain) const {
  for (const auto& [filter, option] :
       {std::pair{&selection_.calls, "library"}, std::pair{&selection_.entries, "symbol"}}) {
    for (const functions::library::SymbolFilter::Wanted& wanted : filter->wanted()) {
      if (!wanted.has_matched) {
        complain(fmt::format("-e {}={}{}{}: no function of the recording matches", option, wanted.symbol,
                             wanted.module.empty() || wanted.module == "*" ? "" : "@",
                             wanted.module == "*" ? "" : wanted.module));
      }
    }
  }
}

bool ReplayedFunctions::wants_function(const trace::LibraryFunction& function) {
  const auto [entry, is_new] = known_.try_emplace(function.number, false);
  if (is_new) {
    // A call through a linkage table is chosen by who calls, the entry of a function by who defines it.
    const bool at_entry = function.caller.empty();
    const functions::library::ModuleName module =
        at_entry ? functions::library::ModuleName{function.library, function.defined_in.path, function.in_program}
                 : functions::library::ModuleName{function.caller, function.called_from.path, function.of_program};
    const functions::library::SymbolFilter& filter = at_entry ? selection_.entries : selection_.calls;
    entry->second = filter.matches(function.name, module);
  }
  return entry->second;
}

bool ReplayedFunctions::wants_probe(const trace::ProbeHit& hit) const {
  return std::any_of(
      selection_.probes.begin(), selection_.probes.end(),
      [&](const functions::library::ProbePattern& pattern) { return pattern.matches(*hit.provider, *hit.name); });
}

bool ReplayedFunctions::wants(const trace::Event& event) {
  if (const auto* enter = std::get_if<trace::LibraryEnter>(&event.what)) {
    return wants_function(*enter->function);
  }
  if (const auto* exit = std::get_if<trace::LibraryExit>(&event.what)) {
    return wants_function(*exit->function);
  }
  if (const auto* calls = std::get_if<trace::LibraryCalls>(&event.what)) {
    return wants_function(*calls->function);
  }
  const auto* hit = std::get_if<trace::ProbeHit>(&event.what);
  return hit == nullptr || wants_probe(*hit);
}

}  // namespace tracer::app
