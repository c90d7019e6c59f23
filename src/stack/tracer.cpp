#include "stack/tracer.h"

#include <algorithm>
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
      : options_(options), spaces_(tables, options.follows_children), unwinder_(std::move(unwinder)) {}

  void observe(const trace::Event& event, const trace::Memory& memory) override {
    spaces_.observe(event, memory);
    if (event.stack != nullptr && event.stack->is_past() && event.stack->mappings().empty()) {
      spaces_.of(event.tgid).begin_walk(event.tid);  // looks where its code is, while it is there
    }
    if (std::holds_alternative<trace::Exec>(event.what) || std::holds_alternative<trace::Exited>(event.what)) {
      perf_maps_.erase(event.tgid);
    }
  }

  std::span<const trace::StackFrame> frames(const trace::Event& event, const trace::Memory& memory) override {
    frames_.clear();
    places_.clear();
    if (event.stack == nullptr) {
      return {};
    }
    AddressSpace& space = spaces_.of(event.tgid);
    const Walk walk{event.tid, memory, space, objects_};
    if (const auto then = event.stack->mappings(); !then.empty()) {
      space.begin_walk(event.tid, then);
    } else {
      space.begin_walk(event.tid);
    }
    // A function that is called just now is told of anyway, and the stub that it is called by is nobody's function.
    const bool from_caller = std::holds_alternative<trace::LibraryEnter>(event.what);
    const WalkEnd end = find_places(walk, *event.stack, from_caller);
    for (const Place& place : places_) {
      if (!add_frame(walk, event.tgid, place)) {
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
  WalkEnd find_places(const Walk& walk, const trace::StackSource& source, bool from_caller) {
    if (auto captured = source.addresses(); !captured.empty()) {
      captured = captured.subspan(from_caller ? 1 : 0);
      for (const std::uint64_t address : captured.first(std::min(captured.size(), options_.frame_limit))) {
        places_.push_back({address, places_.empty() && !from_caller});
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
      // As if it had returned: the unwind tables of some machines say nothing of stubs.
      start.registers.instruction_pointer = entry->return_address & start.registers.address_mask;
      start.registers.set(start.registers.stack_pointer, entry->stack_arguments);
      start.exact = false;
    }
    return unwinder_->walk(walk, start, options_.frame_limit, places_);
  }

  /// False if nothing can come after it.
  bool add_frame(const Walk& walk, pid_t process, const Place& place) {
    trace::StackFrame& frame = frames_.emplace_back();
    frame.address = place.address;
    // A call may be the last thing that a function does: what is behind it is another one.
    const unsigned behind = place.exact ? 0 : 1;
    Mapping* const mapping = walk.space.find(place.address - behind);
    if (mapping == nullptr) {
      frame.kind = trace::StackFrame::Kind::unknown;
      return false;
    }
    if (mapping->path.empty()) {
      return add_compiled(frame, walk.tid, process, place.address - behind, behind);
    }
    frame.file = mapping->path;
    frame.file_offset = mapping->offset_of(place.address);
    ElfObject* const object = AddressSpace::object(*mapping, walk.tid, walk.memory, walk.objects);
    const auto address = object == nullptr ? std::nullopt : object->address_of(frame.file_offset - behind);
    if (address && options_.sources && add_sources(*object, mapping->path, *address + behind, behind)) {
      return true;
    }
    const FunctionName* const function = address ? object->function(*address) : nullptr;
    if (function != nullptr) {
      frame.symbol = function->name;
      frame.symbol_offset = function->offset + behind;
    }
    return true;
  }

  /// Code without a file: the program may have told what it has compiled there.
  bool add_compiled(trace::StackFrame& frame, pid_t tid, pid_t process, std::uint64_t address, unsigned behind) {
    PerfMap& map = perf_maps_[process];
    const PerfMap::Function* const function = map.find(tid, address);
    if (function == nullptr) {
      frame.kind = trace::StackFrame::Kind::unknown;
      return false;
    }
    frame.file = map.path();
    frame.file_offset = frame.address;
    frame.symbol = function->name;
    frame.symbol_offset = address - function->start + behind;
    return true;
  }

  /// Fills the frame that was added last, and adds others before it that are inlined in it. False if nothing is known.
  bool add_sources(ElfObject& object, const std::string& path, std::uint64_t address, unsigned behind) {
    const trace::StackFrame whole = frames_.back();
    const auto& places = object.sources(path)->at(address, behind);
    if (places.empty() || places.back().function.empty()) {
      return false;
    }
    frames_.pop_back();
    for (const SourcePlace& place : places) {
      trace::StackFrame& frame = frames_.emplace_back(whole);
      frame.symbol = place.function;
      frame.symbol_offset = place.offset;
      frame.inlined = place.inlined;
      frame.source = place.file;
      frame.line = place.line;
    }
    return true;
  }

  Options options_;
  AddressSpaces spaces_;
  ObjectCache objects_;
  std::unordered_map<pid_t, PerfMap> perf_maps_;  ///< by process
  std::unique_ptr<Unwinder> unwinder_;
  std::vector<Place> places_;
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
