#include "sysc/btf_names.h"

#include <algorithm>

#include "sysc/diagnostics.h"
#include "sysc/lexer.h"

namespace tracer::sysc {

std::vector<std::string> names_from_btf(std::span<const Source> sources) {
  std::vector<std::string> names;
  Diagnostics ignored;
  for (const Source& source : sources) {
    const auto tokens = tokenize(source, 0, ignored, false);
    for (std::size_t i = 0; i + 3 < tokens.size(); ++i) {
      if (tokens[i].is("struct") && tokens[i + 1].kind == TokenKind::name && tokens[i + 2].is("from") &&
          tokens[i + 3].is("btf")) {
        names.emplace_back(tokens[i + 1].text);
      }
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace tracer::sysc
