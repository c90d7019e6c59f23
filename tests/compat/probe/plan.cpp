#include "plan.h"

#include <cstring>

namespace tracer::probe {
namespace {

template <typename T>
void append(std::string& to, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  to.append(bytes, sizeof value);
}

/// What does not fit into a page is not there for the call either.
bool fits(const Patch& patch) {
  return (patch.address - slot_address(0)) % (2 * page_size) + patch.bytes.size() <= page_size;
}

}  // namespace

void write(std::FILE* out, Scene scene) {
  std::erase_if(scene.patches, [](const Patch& patch) { return !fits(patch); });
  std::string body;
  append(body, scene.number);
  append(body, static_cast<std::uint32_t>(scene.background));
  append(body, static_cast<std::uint32_t>(scene.patches.size()));
  append(body, scene.result);
  for (const std::uint64_t argument : scene.args) {
    append(body, argument);
  }
  for (const Patch& patch : scene.patches) {
    append(body, patch.address);
    append(body, static_cast<std::uint32_t>(patch.bytes.size()));
    append(body, std::uint32_t{patch.at_exit});
    body.append(patch.bytes.begin(), patch.bytes.end());
    body.append((4 - patch.bytes.size() % 4) % 4, '\0');
  }
  std::string size;
  append(size, static_cast<std::uint32_t>(body.size() + sizeof(std::uint32_t)));
  std::fwrite(size.data(), 1, size.size(), out);
  std::fwrite(body.data(), 1, body.size(), out);
}

}  // namespace tracer::probe
