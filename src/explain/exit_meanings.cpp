#include "explain/exit_meanings.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "explain/text_search.h"

namespace tracer::explain {

namespace {

struct Meaning {
  std::string_view programs;
  int status;
  std::string_view words;
};

// As the manuals of these programs say.
constexpr std::array<Meaning, 9> meanings = {{
    {"grep egrep fgrep zgrep rgrep rg ugrep", 1, "no line matched"},
    {"diff cmp zdiff zcmp sdiff diff3 comm colordiff", 1, "the files differ"},
    {"test [", 1, "the condition is false"},
    {"expr", 1, "the value is empty or 0"},
    {"pgrep pkill pidof", 1, "no process matched"},
    {"mountpoint", 32, "it is no mount point"},
    {"getent", 2, "there is no such entry"},
    {"which", 1, "there is no such program in PATH"},
    {"false", 1, "that is all that it does"},
}};

}  // namespace

std::string meaning_of_exit(const Process& process) {
  if (!process.exit || process.exit->by_signal || !process.messages().empty()) {
    return {};
  }
  const auto* at = std::find_if(meanings.begin(), meanings.end(), [&](const Meaning& meaning) {
    return process.exit->status == meaning.status && is_listed(process.name(), meaning.programs);
  });
  return at == meanings.end() ? std::string() : std::string(at->words);
}

}  // namespace tracer::explain
