// Names of generic netlink families, whose numbers the kernel gives out as they come. genetlink(7), linux/genetlink.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/unique_fd.h"

namespace tracer::names {

class GenericFamilies {
 public:
  /// The family of a number, which is the same in all network namespaces; empty if there is none. Valid as long as
  /// this.
  std::string_view name(std::uint16_t number);

 private:
  std::string ask(std::uint16_t number);

  UniqueFd socket_;  ///< opened at the first question
  /// What the kernel has said; a number that had no family may get one.
  std::unordered_map<std::uint16_t, std::string> known_;
};

}  // namespace tracer::names
