#include "stack/function_names.h"

#include <utility>

namespace tracer::stack {

namespace {

/// No memory: objects that exist in memory only, such as the vDSO, are not searched.
class NoMemory final : public trace::Memory {
 public:
  std::size_t read(RemoteAddr, std::span<std::byte>) const override { return 0; }
};

}  // namespace

std::string FunctionNames::at(pid_t tid, std::uint64_t address) {
  if (spaces_.size() >= max_threads) {
    spaces_.clear();
  }
  const auto [known, is_new] = spaces_.try_emplace(tid, generations_);
  AddressSpace& space = known->second;
  if (is_new) {
    space.set_untraced_sharer();
  }
  space.begin_walk(tid);
  Mapping* const mapping = space.find(address);
  ElfObject* const object = mapping != nullptr ? AddressSpace::object(*mapping, tid, NoMemory(), objects_) : nullptr;
  const auto own =
      object != nullptr ? object->address_of(address - mapping->start + mapping->file_offset) : std::nullopt;
  const FunctionName* const function = own ? object->function(*own, mapping->path, tid, reader_) : nullptr;
  return function != nullptr && function->offset == 0 ? function->name : std::string();
}

}  // namespace tracer::stack
