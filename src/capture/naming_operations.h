// Operations of a capture plan that record what the descriptors and process ids of a call stand for. Private to this
// directory.
#pragma once

#include <cstdint>
#include <optional>

#include "capture/limits.h"
#include "capture/operations.h"
#include "capture/plan.h"

namespace tracer::capture {

class NamingOperations : public CaptureOperations {
 public:
  NamingOperations(const spec::Tables& tables, const CaptureLimits& limits, Abi abi)
      : CaptureOperations(tables, abi), limits_(limits) {}

 protected:
  // Each adds nothing for a type of which nobody wants to know what it stands for.

  /// The value in a slot.
  void named(const spec::Type& type, std::uint8_t slot);
  /// The value in memory.
  void named_in_memory(const spec::Type& type, std::uint8_t base, std::uint32_t offset);
  /// What a custom finds in memory.
  void named_by_custom(const spec::Type& type, std::uint8_t base, std::uint32_t offset);
  /// What an array of control messages passes on.
  void passed_on(const spec::Type& array, std::uint8_t base, std::uint32_t offset, const std::optional<Length>& size);
  /// Before the types of a call: a custom may need this parameter.
  void look_at_name(const spec::Param& param);

  CaptureLimits limits_;

 private:
  /// Calls `use(named_kind)` for what a value may be, whatever a table chooses.
  template <typename Use>
  void for_each_kind(const spec::Type& type, const Use& use, unsigned depth = 0) const;

  std::uint8_t pidfd_ = slot_none;  ///< slot that has one whose process other descriptors may be of
  std::uint8_t set_size_ = 0;       ///< slot that has how many descriptors sets have
};

}  // namespace tracer::capture
