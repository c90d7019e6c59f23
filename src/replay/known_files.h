// The files that a block has said last of descriptors and of current directories. Most facts are such ones again, of a
// descriptor among the arguments: all that is written of them is which arguments these are.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "replay/facts.h"

namespace tracer::replay {

class KnownFiles {
 public:
  using Arguments = std::array<std::uint64_t, 6>;

  /// Returns which argument the descriptor is, or the place of the current directory; nothing if it is neither.
  [[nodiscard]] static std::optional<unsigned> place_of(const Arguments& arguments, FileFact::Owner owner,
                                                        std::int32_t fd) {
    if (owner == FileFact::Owner::directory) {
      return directory_place;
    }
    const auto* found = std::find_if(arguments.begin(), arguments.end(), [fd](std::uint64_t argument) {
      return static_cast<std::int32_t>(argument) == fd;
    });
    return owner != FileFact::Owner::task || found == arguments.end()
               ? std::nullopt
               : std::optional(static_cast<unsigned>(found - arguments.begin()));
  }

  /// Remembers the number of a file of a process.
  void say(pid_t tgid, FileFact::Owner owner, std::int32_t fd, std::uint64_t number) {
    if (owner == FileFact::Owner::task || owner == FileFact::Owner::directory) {
      numbers_[key_of(tgid, owner, fd)] = number;
    }
  }
  [[nodiscard]] std::optional<std::uint64_t> number_of(pid_t tgid, FileFact::Owner owner, std::int32_t fd) const {
    const auto known = numbers_.find(key_of(tgid, owner, fd));
    return known == numbers_.end() ? std::nullopt : std::optional(known->second);
  }

 private:
  static constexpr unsigned directory_place = std::tuple_size_v<Arguments>;

  static std::uint64_t key_of(pid_t tgid, FileFact::Owner owner, std::int32_t fd) {
    const std::int32_t low = owner == FileFact::Owner::directory ? -1 : fd;  // which is no descriptor
    return std::uint64_t{static_cast<std::uint32_t>(tgid)} << 32U | static_cast<std::uint32_t>(low);
  }

  std::unordered_map<std::uint64_t, std::uint64_t> numbers_;
};

}  // namespace tracer::replay
