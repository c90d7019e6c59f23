// Reads socket addresses from decoded calls.
#pragma once

#include <string>

#include "explain/record.h"

namespace tracer::explain {

/// A socket address, parsed from `htons(80)` and `inet_addr("127.0.0.1")`.
struct Peer {
  std::string host;
  unsigned port = 0;
  std::string path;  ///< path of a Unix socket; '@' before an abstract name

  /// Returns "127.0.0.1:80", "[::1]:80" or the path.
  [[nodiscard]] std::string name() const;
};

/// Returns the address that connect(2), bind(2) or the like got; an empty one if it is of another family.
Peer peer_of(const Call& call);

}  // namespace tracer::explain
