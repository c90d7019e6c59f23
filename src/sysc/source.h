// Source text and positions in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tracer::sysc {

/// A position in a source file. Lines and columns count from 1.
struct Position {
  std::uint32_t file = 0;  ///< index into the list of sources
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct Source {
  std::string path;  ///< as messages print it
  std::string text;
};

/// Reads files and, for a directory, all `*.sys` and `*.nr` files below it, sorted by path.
/// Throws std::runtime_error, with path and reason, if something cannot be read.
std::vector<Source> read_sources(const std::vector<std::string>& paths);

}  // namespace tracer::sysc
