// Packs blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "replay/mark.h"

namespace tracer::replay {

/// A block as it stands in the file, with its mark.
struct PackedBlock {
  std::string bytes;
  std::uint32_t size = 0;  ///< unpacked
};

/// Packs with zstd at its quickest level that still finds repetitions.
class Packer {
 public:
  Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;
  ~Packer();

  /// `mark` lacks only its packed size and its checksum. Returns nothing if zstd fails: there is no memory.
  std::optional<PackedBlock> pack(Mark mark, std::string_view block);

 private:
  /// Returns how long it is; 0: it failed.
  std::size_t pack_into(std::span<char> into, std::string_view block, const Mark& mark);

  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace tracer::replay
