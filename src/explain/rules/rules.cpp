#include <set>
#include <sstream>

#include "explain/rules/rules.h"

namespace tracer::explain::rules {

namespace {

/// Calls that the story needs besides those of the rules.
constexpr std::string_view story_calls =
    "execve execveat exit exit_group wait4 waitid write writev open openat openat2 creat chdir fchdir chroot "
    "pivot_root unshare setns connect bind kill "
    "tgkill dup dup2 dup3 "
    "getsockopt prctl seccomp landlock_restrict_self fsopen fspick fsconfig fsmount open_tree open_tree_attr";

}  // namespace

std::vector<Rule> all_rules() {
  std::vector<Rule> all;
  for (const auto rules :
       {exec_rules(), loader_rules(), fatal_signal_rules(), network_rules(), limit_rules(), kernel_file_rules(),
        file_rules(), lock_rules(), security_module_rules(), permission_rules(), mount_rules(), error_rules(),
        environment_rules(), configuration_rules(), saying_rules(), exception_rules(), exit_status_rules()}) {
    all.insert(all.end(), rules.begin(), rules.end());
  }
  return all;
}

std::string calls_to_trace() {
  std::set<std::string> names;
  const auto add = [&names](std::string_view list) {
    std::istringstream words{std::string(list)};
    for (std::string word; words >> word;) {
      if (word != "*") {
        names.insert(word);
      }
    }
  };
  add(story_calls);
  for (const Rule& rule : all_rules()) {
    add(rule.calls);
  }
  std::string list;
  for (const std::string& name : names) {
    list += (list.empty() ? "?" : ",?") + name;
  }
  return list;
}

}  // namespace tracer::explain::rules
