// Which function calls and static probes of a recording the filters of functions choose.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "functions/library/symbol_filter.h"
#include "trace/event.h"

namespace tracer::app {

class ReplayedFunctions {
 public:
  explicit ReplayedFunctions(functions::library::LibrarySelection selection) : selection_(std::move(selection)) {}
  ReplayedFunctions(const ReplayedFunctions&) = delete;
  ReplayedFunctions& operator=(const ReplayedFunctions&) = delete;

  /// All events but those of other functions and probes.
  bool wants(const trace::Event& event);
  /// Reports the filters that no function has matched so far.
  void report_missed(const std::function<void(std::string_view)>& complain) const;

 private:
  bool wants_function(const trace::LibraryFunction& function);
  bool wants_probe(const trace::ProbeHit& hit) const;

  functions::library::LibrarySelection selection_;
  std::unordered_map<std::uint32_t, bool> known_;  ///< by function number
};

}  // namespace tracer::app
