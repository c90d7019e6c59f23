// Reads socket addresses from decoded calls.
#pragma once

#include <string>

#include "explain/record.h"
#include "explain/story.h"

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

/// Returns the address of a connect, or for another call that of the last connect of the same descriptor.
Peer peer_of_step(const Process& process, const Step& step);

/// Returns the name in the question of a DNS message (RFC 1035, section 4.1.2), escaped; empty if it is none.
std::string name_asked(const std::string& packet);

}  // namespace tracer::explain
