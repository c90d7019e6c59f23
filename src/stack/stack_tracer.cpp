#include "stack/stack_tracer.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arch/arch.h"
#include "arch/breakpoint.h"
#include "stack/address_space.h"
#include "stack/object_cache.h"
#include "stack/perf_map.h"
#include "stack/unwinder.h"
#include "trace/event.h"

namespace tracer::stack {

namespace {

class Tracer final : public trace::StackTracer {
 public:
  Tracer(const Options& options, const spec::Tables& tables, std::unique_ptr<Unwinder> unwinder)
      : options_(options),
        reader_(options.note),
        spaces_(tables, options.follows_children),
        unwinder_(std::move(unwinder)) {}

  void observe(const trace::Event& event, const trace::Memory& memory) override {
    spaces_.observe(event, memory);
    if (event.stack != nullptr && event.stack->is_past() && event.stack->mappings().empty()) {
      spaces_.of(event.tgid).begin_walk(event.tid);  // reads the mappings while the process still has them
    }
    const bool ends = std::holds_alternative<trace::Exited>(event.what) && event.tid == event.tgid;
    if (ends || std::holds_alternative<trace::Exec>(event.what)) {
      perf_maps_.erase(event.tgid);
    }
  }

  std::span<const trace::StackFrame> frames(const trace::Event& event, const trace::Memory& memory) override {
    frames_.clear();
    addresses_.clear();
    jit_names_.clear();
    if (event.stack == nullptr) {
      return {};
    }
    AddressSpace& space = spaces_.of(event.tgid);
    const Walk walk{event.tid, memory, space, objects_};
    if (const auto captured = event.stack->mappings(); !captured.empty()) {
      space.begin_walk(event.tid, captured);
    } else {
      space.begin_walk(event.tid);
    }
    // The event itself shows the called function, and the PLT stub that it is called through is not a function.
    const bool from_caller = std::holds_alternative<trace::LibraryEnter>(event.what);
    const WalkEnd end = find_addresses(walk, *event.stack, from_caller);
    for (const FrameAddress& at : addresses_) {
      if (!add_frame(walk, event.tgid, at)) {
        return frames_;
      }
    }
    if (end != WalkEnd::outermost) {
      frames_.emplace_back().kind =
          end == WalkEnd::limit ? trace::StackFrame::Kind::limit : trace::StackFrame::Kind::cycle;
    }
    return frames_;
  }

 private:
  WalkEnd find_addresses(const Walk& walk, const trace::StackSource& source, bool from_caller) {
    if (auto captured = source.addresses(); !captured.empty()) {
      captured = captured.subspan(from_caller ? 1 : 0);
      for (const std::uint64_t address : captured.first(std::min(captured.size(), options_.frame_limit))) {
        addresses_.push_back({address, addresses_.empty() && !from_caller});
      }
      return captured.size() > options_.frame_limit ? WalkEnd::limit : WalkEnd::outermost;
    }
    arch::Registers registers;
    const std::size_t size = source.registers(registers.buffer());
    if (size == 0 || !registers.resize(size)) {
      return WalkEnd::outermost;
    }
    InnermostFrame start{registers.frame_registers(), true};
    if (from_caller) {
      const auto entry = arch::function_entry(registers, walk.memory);
      if (!entry) {
        return WalkEnd::outermost;
      }
      // Starts in the caller, because some architectures have no unwind information for stubs.
      start.registers.instruction_pointer = entry->return_address & start.registers.address_mask;
      start.registers.set(start.registers.stack_pointer, entry->stack_arguments);
      start.exact = false;
    }
    return unwinder_->walk(walk, start, options_.frame_limit, addresses_);
  }

  /// Returns false if it is the last frame.
  bool add_frame(const Walk& walk, pid_t process, const FrameAddress& at) {
    trace::StackFrame& frame = frames_.emplace_back();
    frame.address = at.address;
    // A call may be the last instruction of a function; then the return address belongs to the next function.
    const unsigned adjustment = at.exact ? 0 : 1;
    Mapping* const mapping = walk.space.find(at.address - adjustment);
    if (mapping == nullptr) {
      frame.kind = trace::StackFrame::Kind::unknown;
      return false;
    }
    if (mapping->path.empty()) {
      return add_jit_frame(frame, walk.tid, process, at.address - adjustment, adjustment);
    }
    frame.file = mapping->path;
    frame.file_offset = mapping->offset_of(at.address);
    ElfObject* const object = AddressSpace::object(*mapping, walk.tid, walk.memory, walk.objects);
    const auto address = object == nullptr ? std::nullopt : object->address_of(frame.file_offset - adjustment);
    if (address && options_.sources && add_sources(*object, *mapping, walk.tid, {*address + adjustment, adjustment})) {
      return true;
    }
    const FunctionName* const function =
        address ? object->function(*address, mapping->path, walk.tid, reader_) : nullptr;
    if (function != nullptr) {
      frame.symbol = function->name;
      frame.symbol_offset = function->offset + adjustment;
    }
    return true;
  }

  /// Names code without a file, which the program may have compiled itself and described for perf.
  bool add_jit_frame(trace::StackFrame& frame, pid_t tid, pid_t process, std::uint64_t address, unsigned adjustment) {
    PerfMap& map = perf_maps_[process];
    const auto function = map.find(tid, address);
    if (!function) {
      frame.kind = trace::StackFrame::Kind::unknown;
      return false;
    }
    frame.file = map.path();
    frame.file_offset = frame.address;
    frame.symbol = jit_names_.emplace_back(function->name);
    frame.symbol_offset = address - function->start + adjustment;
    return true;
  }

  struct Place {
    std::uint64_t address;  ///< in the object
    unsigned adjustment;    ///< 1 for a return address
  };

  /// Completes the frame that was added last and inserts frames for functions inlined in it before it. Returns false if
  /// nothing is known.
  bool add_sources(ElfObject& object, const Mapping& mapping, pid_t tid, Place place) {
    const trace::StackFrame whole = frames_.back();
    const auto& locations = object.sources(mapping.path, tid, reader_)->at(place.address, place.adjustment);
    if (locations.empty() || locations.back().function.empty()) {
      return false;
    }
    frames_.pop_back();
    for (const SourceLocation& location : locations) {
      trace::StackFrame& frame = frames_.emplace_back(whole);
      frame.symbol = location.function;
      frame.symbol_offset = location.offset;
      frame.inlined = location.inlined;
      frame.source = location.file;
      frame.line = location.line;
    }
    return true;
  }

  Options options_;
  debuginfo::Reader reader_;  ///< outlives the objects
  AddressSpaces spaces_;
  ObjectCache objects_;
  std::unordered_map<pid_t, PerfMap> perf_maps_;  ///< by process
  std::unique_ptr<Unwinder> unwinder_;
  std::vector<FrameAddress> addresses_;
  std::deque<std::string> jit_names_;  ///< of frames_
  std::vector<trace::StackFrame> frames_;
};

}  // namespace

std::unique_ptr<trace::StackTracer> make_stack_tracer(const Options& options, const spec::Tables& tables,
                                                      std::unique_ptr<Unwinder> unwinder) {
  return std::make_unique<Tracer>(options, tables, std::move(unwinder));
}

bool must_see(Abi abi, std::string_view call) {
  return mapping_call(abi, call) != MappingCall::none;
}

}  // namespace tracer::stack
