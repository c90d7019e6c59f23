// Exceptions that have a cause outside the lines that raise them.

#include "explain/rules/rules.h"

namespace tracer::explain::rules {

namespace {

/// A program's own module that has the name of one of Python's standard library is found first.
std::optional<Finding> shadowing_module(const Case& facts) {
  const std::string line = last_line(facts.messages);
  std::string name = word_after(line, "' from '", "'");
  name = name.empty() ? word_after(line, "module '", "'") : name;
  const auto& opened = facts.process.opened;
  constexpr std::string_view libraries = "/lib/python";
  std::string own;
  std::string library;
  for (const Opened& one : opened) {
    const std::size_t at = one.path.find(libraries);
    const std::size_t end = at == std::string::npos ? at : one.path.find('/', at + libraries.size());
    if (end != std::string::npos) {
      library = one.path.substr(0, end);
    } else if (base_name(one.path).starts_with(name + '.') && contains(one.path, ".py")) {
      own = one.path;
    }
  }
  const bool is_hidden =
      !name.empty() && !own.empty() && !library.empty() &&
      (facts.prober.exists(library + '/' + name + ".py") || facts.prober.exists(library + '/' + name));
  if (!is_hidden) {
    return std::nullopt;
  }
  if (const std::size_t cache = own.find("/__pycache__/"); cache != std::string::npos) {
    own = own.substr(0, cache + 1) + name + ".py";
  }
  Finding finding;
  finding.cause = "the program's own " + own + " hides the module " + printable(name) + " of Python's standard library";
  finding.looked_at.push_back(library + " has the module " + printable(name));
  finding.remedy = "give " + own + " another name";
  return finding;
}

constexpr Rule exceptions_table[] = {
    {"hidden-module", 60, "", "", "cannot import name|has no attribute|partially initialized", "", shadowing_module},
};

}  // namespace

std::span<const Rule> exception_rules() {
  return exceptions_table;
}

}  // namespace tracer::explain::rules
