// Reads the header of a file that was executed or loaded: ELF, script, or something else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tracer::explain {

struct FileHeader {
  enum class Kind : std::uint8_t { unreadable, empty, script, elf, other };
  Kind kind = Kind::unreadable;

  // script
  std::string interpreter;  ///< from the #! line, or PT_INTERP of an ELF file
  std::string interpreter_argument;
  bool carriage_return = false;  ///< the first line ends with \r\n

  // elf
  unsigned bits = 0;  ///< 32 or 64
  unsigned machine = 0;
  bool truncated = false;  ///< segments or the program header table exceed the file, or the header is unreadable
  std::vector<std::string> needed;
  std::string run_path;               ///< RUNPATH or RPATH
  std::vector<std::string> versions;  ///< the versions that it defines (SHT_GNU_verdef)
};

/// Reads the header of the file at `path`, a path in the tracer's own view.
FileHeader read_header(const std::string& path);
/// Returns a name for an ELF machine number: "x86-64", "AArch64", …
std::string machine_name(unsigned machine);
/// Returns the ELF machine number of the tracer itself.
unsigned native_machine();

}  // namespace tracer::explain
