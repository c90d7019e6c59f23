// An ELF file with code, or a copy of it from memory: its unwind information, function names and source lines. All
// processes that map it share this object.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/unique_fd.h"
#include "debuginfo/elf_handle.h"
#include "stack/call_frames.h"
#include "stack/sources.h"
#include "stack/symbols.h"

namespace tracer::stack {

struct FunctionName {
  std::string name;  ///< demangled
  std::uint64_t offset = 0;
};

class ElfObject {
 public:
  /// Returns null if the object cannot be read. `trusted` says that only root can write the file.
  static std::shared_ptr<ElfObject> open(UniqueFd file, bool trusted);
  /// `image` has the contents of the file; unknown parts are zero.
  static std::shared_ptr<ElfObject> from_image(std::vector<char> image);

  /// Converts a file offset to an address in the object; empty if no segment contains it.
  [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t file_offset) const;
  /// Returns the address of .eh_frame_hdr; empty if there is none.
  [[nodiscard]] std::optional<std::uint64_t> frame_header() const { return frame_header_; }
  /// See CallFrames::at().
  const Row& row(std::uint64_t address) { return frames_->at(address); }
  /// Returns null if unknown. The result is valid until trim_caches(). The first call looks for a separate file with
  /// symbols and may ask `reader`, which notes `path`, the file in the root of the thread `tid`, if it is too hard to
  /// read.
  const FunctionName* function(std::uint64_t address, const std::string& path, pid_t tid, debuginfo::Reader& reader);
  /// Looks for separate files on the first call. `name` is the path of the file in the root of the thread `tid`.
  Sources* sources(const std::string& name, pid_t tid, debuginfo::Reader& reader);
  /// Clears caches that have become too large.
  void trim_caches();

 private:
  struct Segment {
    std::uint64_t file_offset;
    std::uint64_t size;  ///< in the file
    std::uint64_t address;
    bool executable;
  };
  static constexpr std::size_t max_names = 1 << 16;
  static constexpr std::size_t max_name_bytes = std::size_t{8} << 20;  // beyond what one walk adds

  void load_symbols(const std::string& name, pid_t tid, debuginfo::Reader& reader);
  /// Returns a descriptor of the object, also of one that is in memory only.
  [[nodiscard]] UniqueFd duplicate() const;

  ElfObject(UniqueFd file, std::vector<char> image, debuginfo::ElfHandle elf);
  static std::shared_ptr<ElfObject> make(UniqueFd file, std::vector<char> image, debuginfo::ElfHandle elf,
                                         bool trusted);

  // The order matters for destruction: each member refers to those before it.
  UniqueFd file_;
  std::vector<char> image_;
  debuginfo::ElfHandle elf_;
  std::vector<Segment> segments_;
  std::optional<std::uint64_t> frame_header_;
  std::unique_ptr<CallFrames> frames_;
  UniqueFd debug_;  ///< the separate file
  debuginfo::ElfHandle debug_elf_;
  std::vector<char> mini_debug_;
  debuginfo::ElfHandle mini_elf_;
  std::optional<SymbolTable> symbols_;  ///< empty until needed
  std::unordered_map<std::uint64_t, std::optional<FunctionName>> names_;
  std::size_t name_bytes_ = 0;
  std::unique_ptr<Sources> sources_;
};

}  // namespace tracer::stack
