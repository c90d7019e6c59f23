// A file made hostile: some of its bytes changed, now and then its end cut off.
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>

namespace tracer::fuzz {

/// `Bytes`: a string or a vector of char, not empty. `place(random)` chooses where a byte is changed.
template <typename Bytes, typename Place>
void change_bytes(Bytes& file, std::mt19937_64& random, Place place) {
  const std::size_t changes = 1 + random() % 24;
  for (std::size_t i = 0; i < changes; ++i) {
    const std::size_t at = place(random);
    switch (random() % 4) {
      case 0:
        file[at] = static_cast<char>(random());
        break;
      case 1:
        file[at] = static_cast<char>(0xff);
        break;
      case 2:
        file[at] = static_cast<char>(file[at] ^ (1 << random() % 8));
        break;
      default:
        for (std::size_t j = at; j < std::min(at + 8, file.size()); ++j) {
          file[j] = static_cast<char>(random() % 3 == 0 ? 0xff : 0);
        }
        break;
    }
  }
  if (random() % 16 == 0) {
    file.resize(1 + random() % file.size());
  }
}

}  // namespace tracer::fuzz
