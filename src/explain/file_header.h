// What kind of file something is that was to be executed or loaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tracer::explain {

struct FileHeader {
  enum class Kind : std::uint8_t { unreadable, empty, script, elf, other };
  Kind kind = Kind::unreadable;

  // script
  std::string interpreter;  ///< also of ELF: PT_INTERP
  std::string interpreter_argument;
  bool carriage_return = false;  ///< the first line ends with \r\n

  // elf
  unsigned bits = 0;  ///< 32 or 64
  unsigned machine = 0;
  bool truncated = false;  ///< the header promises more than the file has, or cannot be read
  std::vector<std::string> needed;
  std::string run_path;               ///< RUNPATH or RPATH
  std::vector<std::string> versions;  ///< that it offers
};

/// `path`: on this machine.
FileHeader read_header(const std::string& path);
/// "x86-64", "AArch64", …
std::string machine_name(unsigned machine);
/// The machine that this kernel runs natively, and the 32-bit one that it may run too (0: none).
unsigned native_machine();

}  // namespace tracer::explain
