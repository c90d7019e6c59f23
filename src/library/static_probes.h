// Static probes: the places that a program's authors have marked with sys/sdt.h.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "library/probe_arguments.h"

namespace tracer::library {

struct StaticProbe {
  std::string provider;
  std::string name;
  std::string argument_text;  ///< as the note has it
  std::vector<ProbeArgument> arguments;
  std::uint64_t address = 0;    ///< of its instruction, before relocation
  std::uint64_t semaphore = 0;  ///< of a counter of those who watch, likewise; 0: there is none
};

/// The notes of a file, with a section `.note.stapsdt`. What makes no sense is left out.
std::vector<StaticProbe> read_static_probes(Elf* elf, Abi abi);

/// `PROVIDER:NAME`, both globs; without a colon any provider's.
struct ProbePattern {
  std::string provider;
  std::string name;

  explicit ProbePattern(std::string_view expression);
  [[nodiscard]] bool matches(const StaticProbe& probe) const;
};

}  // namespace tracer::library
