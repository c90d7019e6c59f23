#include "unbuilt.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "stack/tracer.h"

namespace tracer {
namespace {

struct Missing {
  bool asked;
  const char* sentence;
};

}  // namespace

std::optional<std::string> not_built_yet(const cli::Options& options) {
  if (options.format.stack_unwinder == cli::StackUnwinder::libunwind &&
      !stack::has_unwinder(stack::UnwinderChoice::libunwind)) {
    return "--stack-unwinder=libunwind: this build has no libunwind; leave the option out to use libdw";
  }
  const cli::Format& format = options.format;
  const std::array missing{
      Missing{format.secontext.shown && ::access("/sys/fs/selinux/enforce", F_OK) == 0,
              "--secontext: this build cannot show SELinux contexts; leave the option out"},
  };
  const auto* found = std::find_if(missing.begin(), missing.end(), [](const Missing& m) { return m.asked; });
  return found == missing.end() ? std::nullopt : std::optional<std::string>(found->sentence);
}

}  // namespace tracer
