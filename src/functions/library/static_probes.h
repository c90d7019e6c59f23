// Static probes (SystemTap SDT, USDT): points in a program that its authors have marked with sys/sdt.h.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "functions/library/probe_arguments.h"

namespace tracer::functions::library {

struct StaticProbe {
  std::string provider;
  std::string name;
  std::string argument_text;  ///< unparsed text of the note
  std::vector<ProbeArgument> arguments;
  std::uint64_t address = 0;    ///< of its nop instruction, before relocation
  std::uint64_t semaphore = 0;  ///< address of the semaphore, before relocation; 0 if there is none
};

/// Reads the probes in the section .note.stapsdt. Invalid notes are left out.
std::vector<StaticProbe> read_static_probes(Elf* elf, Abi abi);

/// A pattern `PROVIDER:NAME` of two globs; without a colon it matches any provider.
struct ProbePattern {
  std::string provider;
  std::string name;

  explicit ProbePattern(std::string_view expression);
  [[nodiscard]] bool matches(const StaticProbe& probe) const { return matches(probe.provider, probe.name); }
  [[nodiscard]] bool matches(const std::string& its_provider, const std::string& its_name) const;
};

}  // namespace tracer::functions::library
