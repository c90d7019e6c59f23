// Looks up types and functions of the running kernel (BTF), to which programs are adapted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapping.h"
#include "base/result.h"
#include "base/unique_fd.h"

struct btf;
struct btf_type;

namespace tracer::bpf {

/// Read from the kernel when it is first asked for something. libbpf reads it, too; but for each type that programs use
/// it looks through all 130,000 types that it is given, and is quicker with an excerpt.
class KernelBtf {
 public:
  KernelBtf();

  /// The file that write_excerpt() writes, for as long as this lives; empty if none can be had here.
  [[nodiscard]] std::string excerpt_path() const;

  /// Writes those of the kernel's types that the types of programs, `wanted`, have the names of. Ids are others than
  /// the kernel's, pointers lead to no type, and there are no types of modules.
  Status write_excerpt(const btf* wanted);

  /// The id of a function of the kernel's; 0 if it has none that programs could know.
  [[nodiscard]] std::uint32_t function(std::string_view name);

 private:
  class Excerpt;

  /// Fills what follows, once. There are no types if they cannot be understood.
  void read();
  [[nodiscard]] std::string_view name(std::uint32_t offset) const;

  Mapping mapping_;
  std::string copy_;              ///< where it cannot be mapped: before Linux 6.16
  std::string_view bytes_;        ///< in either
  std::vector<btf_type*> types_;  ///< in `bytes_`, by their ids; 0 is none
  std::string_view names_;        ///< one after the other, each with its 0
  UniqueFd excerpt_;
};

}  // namespace tracer::bpf
