// Source text and places in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tracer::sysc {

/// A place in a source file. Lines and columns count from 1.
struct Position {
  std::uint32_t file = 0;  ///< index into the list of sources
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct Source {
  std::string path;  ///< as it is shown in messages
  std::string text;
};

/// Reads the files named, and below each folder named all `*.sys` and `*.nr`, sorted by path.
/// Throws std::runtime_error, with path and reason, if something cannot be read.
std::vector<Source> read_sources(const std::vector<std::string>& paths);

}  // namespace tracer::sysc
