// The manual page of a call, as man(1) shows it.
#pragma once

#include <string>

namespace tracer::replay::viewer {

struct ManualPage {
  std::string name;
  char section = '2';  ///< 2: of system calls, 3: of functions
};

/// Returns why there is no such page; empty if there is one.
[[nodiscard]] std::string missing_page(const ManualPage& page);
/// Runs man(1) on this process's terminal until the person has read the page. Ctrl-C is man's meanwhile.
void show_page(const ManualPage& page);

}  // namespace tracer::replay::viewer
