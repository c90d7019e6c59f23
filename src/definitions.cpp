#include "definitions.h"

#include <cerrno>
#include <exception>
#include <iterator>

#include "sysc/builtin_sources.h"
#include "sysc/compile.h"

namespace tracer {

Result<spec::TableSet> compile_definitions(const std::vector<std::string>& files) {
  std::vector<sysc::Source> sources;
  try {
    sources = sysc::read_sources(files);
  } catch (const std::exception& failure) {
    return Error{EINVAL, "--define: " + std::string(failure.what())};
  }
  auto builtin = sysc::builtin_sources();
  sources.insert(sources.end(), std::make_move_iterator(builtin.begin()), std::make_move_iterator(builtin.end()));
  sysc::Diagnostics diagnostics;
  spec::TableSet set = sysc::compile(sources, diagnostics);
  if (diagnostics.has_errors()) {
    std::string lines = diagnostics.text(sources);
    lines.resize(lines.find_last_not_of('\n') + 1);
    return Error{EINVAL, "--define: the descriptions have errors:\n" + lines};
  }
  return set;
}

}  // namespace tracer
