// The cases of the decoder: see README.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decode/decoder.h"
#include "render/text_emitter.h"

namespace tracer::test {

/// A piece of the tracee's memory as the file says it; the ABI decides how wide a word is.
struct MemoryItem {
  struct Piece {
    std::vector<std::byte> bytes;
    bool is_word = false;
    std::uint64_t word = 0;
  };
  std::uint64_t address = 0;
  std::vector<Piece> pieces;

  [[nodiscard]] std::vector<std::byte> bytes(Abi abi) const;
};

struct CallLine {
  std::string name;  ///< empty: `number` says it
  std::uint64_t number = 0;
  std::array<std::uint64_t, 6> args{};
  std::string library;                ///< not empty: a function of it, …
  std::vector<std::uint64_t> values;  ///< … and its arguments
};

struct Case {
  std::string name;
  std::size_t line = 0;
  std::vector<Abi> abis{Abi::x86_64};
  decode::Options options;
  decode::Depth depth;
  render::TextOptions text_options;
  bool names = false;
  bool vcpu = false;
  bool namespaces = false;
  std::vector<CallLine> before;  ///< calls of the same thread that are not shown
  CallLine call;
  std::uint64_t stack = 0;
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
