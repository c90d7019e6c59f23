// Names of generic netlink families. The kernel assigns their numbers dynamically (linux/genetlink.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/unique_fd.h"

namespace tracer::names {

class GenericFamilies {
 public:
  /// Returns the name of a family; empty if there is none. The numbers are the same in all network namespaces. Valid as
  /// long as this.
  std::string_view name(std::uint16_t number);

 private:
  std::string ask(std::uint16_t number);

  UniqueFd socket_;  ///< opened by the first call
  /// The answers of the kernel. A number without a family is not stored, as it may get one.
  std::unordered_map<std::uint16_t, std::string> known_;
};

}  // namespace tracer::names
