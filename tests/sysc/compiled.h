// Descriptions compiled from a string, for tests.
#pragma once

#include <string>
#include <vector>

#include "sysc/compile.h"

namespace tracer::sysc::test {

struct Compiled {
  spec::TableSet set;
  std::string messages;

  [[nodiscard]] spec::Tables tables() const { return set.view(); }
};

inline Compiled compile_text(const std::string& text, const std::string& numbers = {},
                             const std::string& number_file = "x86_64.nr") {
  std::vector<Source> sources{{"test.sys", text}};
  if (!numbers.empty()) {
    sources.push_back({number_file, numbers});
  }
  Diagnostics diagnostics;
  Compiled compiled{compile(sources, diagnostics), {}};
  compiled.messages = diagnostics.text(sources);
  return compiled;
}

}  // namespace tracer::sysc::test
