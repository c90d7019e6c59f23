#include "stack/cycle_detector.h"
#include "stack/unwinder.h"

namespace tracer::stack {

namespace {

/// Unwinds by the frame pointer, which by convention points to the caller's frame pointer followed by the return
/// address.
bool apply_frame_pointer(arch::FrameRegisters& registers, const Walk& walk) {
  if (!registers.has(registers.frame_pointer) || !registers.has(registers.stack_pointer)) {
    return false;
  }
  const std::uint64_t frame = registers.values[registers.frame_pointer];
  const unsigned size = registers.word_size;
  std::uint64_t saved = 0;
  std::uint64_t return_address = 0;
  if (frame < registers.values[registers.stack_pointer] || frame % size != 0 ||
      !read_word(walk.memory, frame, size, saved) || !read_word(walk.memory, frame + size, size, return_address)) {
    return false;
  }
  return_address &= registers.address_mask;
  if (walk.space.find(return_address) == nullptr) {
    return false;
  }
  registers.set(registers.frame_pointer, saved);
  registers.set(registers.stack_pointer, frame + 2 * size);
  registers.instruction_pointer = return_address;
  return true;
}

class LibdwUnwinder final : public Unwinder {
 public:
  WalkEnd walk(const Walk& walk, const InnermostFrame& start, std::size_t limit,
               std::vector<FrameAddress>& frames) override {
    arch::FrameRegisters registers = start.registers;
    CycleDetector cycle;
    for (bool exact = start.exact;;) {
      const std::uint64_t address = registers.instruction_pointer;
      if (frames.size() == limit) {
        return WalkEnd::limit;
      }
      frames.push_back({address, exact});
      // A call may be the last instruction of a function; then the return address belongs to the next function.
      Mapping* const mapping = walk.space.find(exact ? address : address - 1);
      if (mapping == nullptr) {
        return WalkEnd::outermost;
      }
      const Row& row = row_at(walk, *mapping, exact ? address : address - 1);
      if (row.kind == Row::Kind::outermost) {
        return WalkEnd::outermost;
      }
      exact = row.signal;
      if (row.kind == Row::Kind::frame ? !apply(row, registers, walk.memory) : !apply_frame_pointer(registers, walk)) {
        return WalkEnd::outermost;
      }
      if (registers.instruction_pointer == 0) {
        return WalkEnd::outermost;
      }
      if (cycle.seen(registers.instruction_pointer, registers.values[registers.stack_pointer])) {
        return WalkEnd::cycle;
      }
    }
  }

 private:
  const Row& row_at(const Walk& walk, Mapping& mapping, std::uint64_t address) {
    ElfObject* const object = AddressSpace::object(mapping, walk.tid, walk.memory, walk.objects);
    const auto own = object == nullptr ? std::nullopt : object->address_of(mapping.offset_of(address));
    return own ? object->row(*own) : unknown_;
  }

  Row unknown_;
};

}  // namespace

std::unique_ptr<Unwinder> make_libdw_unwinder() {
  return std::make_unique<LibdwUnwinder>();
}

}  // namespace tracer::stack
