#include "sysc/diagnostics.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace tracer::sysc {

void Diagnostics::add(Diagnostic diagnostic) {
  errors_ += diagnostic.severity == Severity::error ? 1 : 0;
  list_.push_back(std::move(diagnostic));
}

void Diagnostics::error(Position at, std::string text, Position other) {
  if (other.file == at.file) {
    error(at, text + fmt::format(" line {}", other.line));
  } else {
    add({Severity::error, at, std::move(text), other});
  }
}

void Diagnostics::drop_warnings_from(std::size_t file) {
  std::erase_if(list_, [&](const Diagnostic& d) { return d.severity == Severity::warning && d.at.file >= file; });
}

std::string Diagnostics::text(std::span<const Source> sources, std::size_t most) const {
  auto sorted = list_;
  const auto place = [](const Diagnostic& d) { return std::tie(d.at.file, d.at.line, d.at.column); };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
  // A type that several signatures share is lowered, and its errors are reported, several times.
  const auto same = [&](const Diagnostic& a, const Diagnostic& b) { return place(a) == place(b) && a.text == b.text; };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());
  const auto path = [&](const Position& at) { return at.file < sources.size() ? sources[at.file].path : "-"; };
  std::string out;
  for (const auto& d : std::span(sorted).first(std::min(most, sorted.size()))) {
    out += fmt::format("{}:{}:{}: {}: {}", path(d.at), d.at.line, d.at.column,
                       d.severity == Severity::error ? "error" : "warning", d.text);
    if (d.other) {
      out += fmt::format(" {}:{}", path(*d.other), d.other->line);
    }
    out += '\n';
  }
  if (sorted.size() > most) {
    out += fmt::format("and {} more\n", sorted.size() - most);
  }
  return out;
}

}  // namespace tracer::sysc
