// An executable file or shared library, as far as tracing calls between modules needs it. Read with libelf from program
// headers and PT_DYNAMIC alone (section headers may be missing or lie); only the full symbol table is found by them.
// The file is the tracee's: every count and size in it is bounded, and what makes no sense is left out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arch/breakpoint.h"
#include "base/abi.h"
#include "base/result.h"
#include "library/static_probes.h"

namespace tracer::library {

struct Segment {
  std::uint64_t address = 0;  ///< before relocation, as all addresses here
  std::uint64_t offset = 0;   ///< in the file
  std::uint64_t file_size = 0;
  bool executable = false;
};

struct Symbol {
  std::string_view name;
  std::uint64_t address = 0;
  bool is_resolver = false;  ///< STT_GNU_IFUNC: the code there returns the address of the function
  bool is_default = true;    ///< false: an old version of the symbol, kept for programs that were linked with it
};

/// Whether a symbol's name is of a piece of a function that compilers put elsewhere, as it seldom runs (`.cold`). It is
/// jumped to, not called: nothing at its beginning is a call's.
bool is_piece(std::string_view name);

/// A word of this module that the loader fills with the address of another module's function.
struct Slot {
  std::uint64_t address = 0;
  std::string_view symbol;
  bool by_stub = false;  ///< of the procedure linkage table, as against one that code reads by itself
};

struct Stub {
  std::uint64_t address = 0;
  std::uint32_t slot = 0;  ///< index into slots()
};

class ModuleFile {
 public:
  /// Reads what `descriptor` refers to. An error if it is no ELF file for this processor.
  static Result<std::shared_ptr<const ModuleFile>> read(int descriptor);

  ModuleFile(const ModuleFile&) = delete;
  ModuleFile& operator=(const ModuleFile&) = delete;

  [[nodiscard]] Abi abi() const { return abi_; }
  /// DT_SONAME; empty if there is none.
  [[nodiscard]] std::string_view soname() const { return soname_; }
  [[nodiscard]] bool has_interpreter() const { return has_interpreter_; }
  [[nodiscard]] std::uint64_t entry() const { return entry_; }
  [[nodiscard]] std::span<const Segment> segments() const { return segments_; }
  [[nodiscard]] std::span<const Slot> slots() const { return slots_; }
  [[nodiscard]] std::span<const Stub> stubs() const { return stubs_; }
  /// DT_DEBUG's place, where the loader leaves the address of its r_debug; 0 if there is none.
  [[nodiscard]] std::uint64_t debug_entry() const { return debug_entry_; }

  /// Functions of the dynamic symbol table.
  [[nodiscard]] std::span<const Symbol> exported() const { return exported_; }
  /// The one that other modules get for a name; null if there is none.
  [[nodiscard]] const Symbol* find_exported(std::string_view name) const;
  /// That one, or any function of the name. Slow where there is no such.
  [[nodiscard]] const Symbol* find_anywhere(std::string_view name) const;
  /// The exported one; in a program without libraries any function of the name. Slow where there is no such.
  [[nodiscard]] const Symbol* find_function(std::string_view name) const;
  /// Functions of the full symbol table (.symtab), local ones included; empty in a stripped file.
  [[nodiscard]] std::span<const Symbol> all_functions() const { return all_functions_; }
  [[nodiscard]] std::span<const StaticProbe> probes() const { return probes_; }

 private:
  friend class ModuleReader;
  ModuleFile() = default;

  Abi abi_{};
  bool has_interpreter_ = false;
  std::uint64_t entry_ = 0;
  std::uint64_t debug_entry_ = 0;
  std::string_view soname_;
  std::vector<char> dynamic_names_;
  std::vector<char> names_;
  std::vector<Segment> segments_;
  std::vector<Slot> slots_;
  std::vector<Stub> stubs_;
  std::vector<Symbol> exported_;
  std::vector<Symbol> all_functions_;
  std::vector<StaticProbe> probes_;
  std::unordered_map<std::string_view, std::uint32_t> by_name_;  ///< of exported_
};

}  // namespace tracer::library
