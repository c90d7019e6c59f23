#include "sysc/diagnostics.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace tracer::sysc {

void Diagnostics::add(Severity severity, Position at, std::string text) {
  errors_ += severity == Severity::error ? 1 : 0;
  list_.push_back({severity, at, std::move(text)});
}

std::string Diagnostics::text(std::span<const Source> sources) const {
  auto sorted = list_;
  const auto place = [](const Diagnostic& d) { return std::tie(d.at.file, d.at.line, d.at.column); };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
  // A type that many signatures share is looked at many times.
  const auto same = [&](const Diagnostic& a, const Diagnostic& b) { return place(a) == place(b) && a.text == b.text; };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());
  std::string out;
  for (const auto& d : sorted) {
    out += d.at.file < sources.size() ? sources[d.at.file].path : "-";
    out += fmt::format(":{}:{}", d.at.line, d.at.column);
    out += d.severity == Severity::error ? ": error: " : ": warning: ";
    out += d.text + '\n';
  }
  return out;
}

}  // namespace tracer::sysc
