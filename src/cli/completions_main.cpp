// Writes the completions of a shell, at build time: completions bash|zsh|fish ABI > FILE
#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "cli/completions.h"
#include "spec/spec.h"

int main(int argc, char** argv) {
  using tracer::cli::Shell;
  const std::string_view name = argc == 3 ? argv[1] : "";
  const auto abi =
      argc == 3 ? std::find(tracer::abi_names.begin(), tracer::abi_names.end(), argv[2]) : tracer::abi_names.end();
  if ((name != "bash" && name != "zsh" && name != "fish") || abi == tracer::abi_names.end()) {
    std::fputs("Usage: completions bash|zsh|fish ABI\n", stderr);
    return 1;
  }
  const auto& tables = tracer::spec::builtin_tables();
  std::set<std::string_view> names;
  for (const auto& row : tables.numbers[static_cast<std::size_t>(abi - tracer::abi_names.begin())]) {
    if (row.call != tracer::spec::none) {
      names.insert(tables.text(tables.calls[row.call].name));
    }
  }
  std::vector<std::string> classes{"all", "none"};
  for (const auto kind : tracer::spec::call_class_names) {
    classes.push_back('%' + std::string(kind));
  }
  std::vector<std::string_view> calls(classes.begin(), classes.end());
  calls.insert(calls.end(), names.begin(), names.end());
  const Shell shell = name == "bash" ? Shell::bash : name == "zsh" ? Shell::zsh : Shell::fish;
  return std::fputs(tracer::cli::completions(shell, calls).c_str(), stdout) < 0 ? 1 : 0;
}
