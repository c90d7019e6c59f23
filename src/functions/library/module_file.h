// The parts of an executable or shared library that tracing of function calls needs. They are read with libelf from the
// program headers and PT_DYNAMIC, because section headers may be missing or wrong; only the full symbol table and
// static probes are found by section headers. The file is not trusted: all counts and sizes are bounded, and invalid
// entries are left out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "arch/breakpoint.h"
#include "base/abi.h"
#include "base/result.h"
#include "functions/library/static_probes.h"

namespace tracer::functions::library {

struct Segment {
  std::uint64_t address = 0;  ///< before relocation, like all addresses here
  std::uint64_t offset = 0;   ///< in the file
  std::uint64_t file_size = 0;
  bool executable = false;
};

struct Symbol {
  std::string_view name;
  std::uint64_t address = 0;
  bool is_resolver = false;  ///< STT_GNU_IFUNC: the code returns the address of the function
  bool is_default = true;    ///< false for a hidden symbol version, kept for programs that were linked with it
  std::uint32_t size = 0;    ///< of the code, in bytes, the largest of all names for it; 0: not known, or larger
};

/// Whether a symbol names the cold part of a function (`.cold`), which compilers place elsewhere. Functions jump to it;
/// it is never called.
bool is_cold_part(std::string_view name);

/// A word of this module, such as an entry of the GOT, that the dynamic linker sets to the address of another module's
/// function or (IRELATIVE) to one of this module's functions, which a resolver chooses.
struct Slot {
  std::uint64_t address = 0;
  std::string_view symbol;  ///< of an unnamed resolver: IREL. and its address
  bool by_stub = false;     ///< a PLT stub reads it; false if other code reads the slot
  bool is_own = false;      ///< IRELATIVE
  bool is_startup = false;  ///< start-up or exit code calls the function rather than the program's own code
  std::uint64_t resolver = 0;
  std::uint64_t unset = 0;  ///< what the file has there: of a JUMP_SLOT, the address of code that has it set
};

struct Stub {
  std::uint64_t address = 0;
  std::uint32_t slot = 0;  ///< index into slots()
};

class ModuleFile {
 public:
  /// Reads the file of `descriptor`. Returns an error if it is not an executable or shared library of a known ABI.
  static Result<std::shared_ptr<const ModuleFile>> read(int descriptor);

  ModuleFile(const ModuleFile&) = delete;
  ModuleFile& operator=(const ModuleFile&) = delete;

  [[nodiscard]] Abi abi() const { return abi_; }
  /// Whether there is code that exceptions pass through; also if the file does not say it.
  [[nodiscard]] bool has_exception_tables() const { return has_exception_tables_; }
  /// Returns DT_SONAME; empty if there is none.
  [[nodiscard]] std::string_view soname() const { return soname_; }
  [[nodiscard]] bool has_interpreter() const { return has_interpreter_; }
  [[nodiscard]] std::uint64_t entry() const { return entry_; }
  [[nodiscard]] std::span<const Segment> segments() const { return segments_; }
  [[nodiscard]] std::span<const Slot> slots() const { return slots_; }
  [[nodiscard]] std::span<const Stub> stubs() const { return stubs_; }
  /// Returns the address of the DT_DEBUG entry, in which the dynamic linker stores the address of r_debug; 0 if there
  /// is none.
  [[nodiscard]] std::uint64_t debug_entry() const { return debug_entry_; }

  /// Returns the functions of the dynamic symbol table.
  [[nodiscard]] std::span<const Symbol> exported() const { return exported_; }
  /// Returns the exported function of this name, in its default version if there is one; null if there is none.
  [[nodiscard]] const Symbol* find_exported(std::string_view name) const;
  /// Returns the exported function of this name or else any function in .symtab. Slow if there is no exported one.
  [[nodiscard]] const Symbol* find_anywhere(std::string_view name) const;
  /// Returns the exported function of this name or, in a static program, any function in .symtab, which is slow.
  [[nodiscard]] const Symbol* find_function(std::string_view name) const;
  /// Returns the functions of the full symbol table (.symtab), including local ones; empty in a stripped file.
  [[nodiscard]] std::span<const Symbol> all_functions() const { return all_functions_; }
  [[nodiscard]] std::span<const StaticProbe> probes() const { return probes_; }

 private:
  friend class ModuleReader;
  ModuleFile() = default;

  Abi abi_{};
  bool has_interpreter_ = false;
  bool has_exception_tables_ = true;
  std::uint64_t entry_ = 0;
  std::uint64_t debug_entry_ = 0;
  std::string_view soname_;
  std::vector<char> dynamic_names_;
  std::vector<char> names_;
  std::unordered_set<std::string> made_names_;  ///< names that are not in the file, or not printable as they are
  std::vector<Segment> segments_;
  std::vector<Slot> slots_;
  std::vector<Stub> stubs_;
  std::vector<Symbol> exported_;
  std::vector<Symbol> all_functions_;
  std::vector<StaticProbe> probes_;
  std::unordered_map<std::string_view, std::uint32_t> by_name_;  ///< index into exported_
};

}  // namespace tracer::functions::library
