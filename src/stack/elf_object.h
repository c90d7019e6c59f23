// A file that code is mapped from, or an image of one: how to unwind from its code and what its functions are called.
// Shared by all processes that run it.
#pragma once

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
  /// Null if it is no object that can be worked with. `trusted`: nobody but root can have made it or can change it.
  static std::shared_ptr<ElfObject> open(UniqueFd file, bool trusted);
  /// `image` is what the file would be, with holes where nothing is known.
  static std::shared_ptr<ElfObject> from_image(std::vector<char> image);

  /// The address that the object itself gives to the place in the file; empty where no segment has it.
  [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t file_offset) const;
  /// The address of .eh_frame_hdr; empty if there is none.
  [[nodiscard]] std::optional<std::uint64_t> frame_header() const { return frame_header_; }
  /// See CallFrames::at().
  const Row& row(std::uint64_t address) { return frames_->at(address); }
  /// Null if unknown. Valid until forget_names_if_many().
  const FunctionName* function(std::uint64_t address);
  /// Null where the object cannot be looked at so. Made when it is asked for first, for a file named `name`.
  Sources* sources(const std::string& name);
  /// Keeps memory bounded.
  void forget_names_if_many();

 private:
  struct Segment {
    std::uint64_t file_offset;
    std::uint64_t size;  ///< in the file
    std::uint64_t address;
    bool executable;
  };
  static constexpr std::size_t most_names = 1 << 16;

  void load_symbols();

  ElfObject(UniqueFd file, std::vector<char> image, debuginfo::ElfHandle elf);
  static std::shared_ptr<ElfObject> make(UniqueFd file, std::vector<char> image, debuginfo::ElfHandle elf,
                                         bool trusted);

  // In the order in which they may go: each needs those before.
  UniqueFd file_;
  std::vector<char> image_;
  debuginfo::ElfHandle elf_;
  std::vector<Segment> segments_;
  std::optional<std::uint64_t> frame_header_;
  std::unique_ptr<CallFrames> frames_;
  std::vector<char> mini_debug_;
  debuginfo::ElfHandle mini_elf_;
  std::optional<SymbolTable> symbols_;  ///< empty until asked for
  std::unordered_map<std::uint64_t, std::optional<FunctionName>> names_;
  std::unique_ptr<Sources> sources_;
};

}  // namespace tracer::stack
