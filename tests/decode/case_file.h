// The cases of the decoder: see README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decode/decoder.h"
#include "render/text_emitter.h"

namespace tracer::test {

struct MemoryItem {
  std::uint64_t address = 0;
  std::vector<std::byte> bytes;
};

struct Case {
  std::string name;
  std::size_t line = 0;
  Abi abi = Abi::x86_64;
  decode::Options options;
  decode::Depth depth;
  render::TextOptions text_options;
  bool names = false;
  std::string call;  ///< empty: `entry.number` says it
  decode::Entry entry;
  decode::Outcome outcome;
  std::vector<MemoryItem> memory;
  std::vector<MemoryItem> changes;
  std::optional<std::string> entered;
  std::optional<std::string> text;
  std::optional<std::string> json;
};

struct CaseFile {
  std::string definitions;  ///< empty: the built-in ones
  std::vector<Case> cases;
};

/// Throws std::runtime_error with file and line if something is not as README.md says.
CaseFile read_case_file(const std::string& path);

}  // namespace tracer::test
