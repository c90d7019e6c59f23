// Reads events and their facts from a block.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "replay/block_state.h"
#include "replay/columns.h"
#include "replay/fact_reader.h"
#include "replay/varint.h"
#include "trace/event.h"

namespace tracer::replay {

class EventReader {
 public:
  EventReader() = default;
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  /// Starts with a block, which has to live until the next one. Of its bytes the first `events_size` are the events, as
  /// its mark says. Without the others, facts() lacks what is needed for decoding alone, and events are quicker to
  /// read.
  void begin(std::string_view block, std::uint32_t events_size);

  enum class Found : std::uint8_t { event, lost, end, damage };
  /// Goes on to the next event. After `event`, event() and facts() are valid until the next call; after `lost`, lost().
  Found next();

  [[nodiscard]] const trace::Event& event() const { return event_; }
  /// What is changed in it has no effect on later events.
  [[nodiscard]] trace::Event& event() { return event_; }
  /// All but the files.
  [[nodiscard]] const Facts& facts() const { return facts_.facts(); }
  /// Returns the file of a descriptor at the event; null if that is unknown.
  [[nodiscard]] const trace::OpenFile* file(FileFact::Owner owner, std::int32_t pid, std::int32_t fd) const {
    return facts_.file(owner, pid, fd);
  }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  /// Returns the name that the recording program had for a system call; empty if the block has none.
  [[nodiscard]] std::string_view call_name(Abi abi, std::uint64_t number) const;

 private:
  /// What records of the block refer to by number.
  struct Known {
    std::vector<const trace::LibraryFunction*> functions;
    std::unordered_map<std::uint64_t, std::string_view> call_names;
    std::size_t count = 0;  ///< of events, and of names of calls
  };
  /// All of the file, by their numbers: views keep pointers to them.
  struct Functions {
    std::unordered_map<std::uint32_t, trace::LibraryFunction> all;
    std::size_t bytes = 0;
  };
  /// Counts what the block has us remember, and returns whether a block of ours may have so much.
  bool remember();
  /// Takes an event with its facts; returns whether there is one that this version knows.
  bool take_event(Tag tag);
  /// Takes the facts of an event, or passes over them.
  void take_facts(bool wanted);
  void take_other_event(Tag tag, Cursor& in);
  unsigned take_bits(Column column);
  void take_head();
  void take_fact(const Record& record);
  const trace::LibraryFunction* take_function(Cursor& in);
  void add_function(Cursor text);

  void take_syscall_enter();
  void take_syscall_exit();
  [[nodiscard]] trace::LibraryEnter library_enter(Cursor& in);
  [[nodiscard]] trace::LibraryExit library_exit(Cursor& in);
  [[nodiscard]] trace::ProbeHit probe_hit(Cursor& in);

  bool has_facts_ = true;  ///< the block
  ColumnReader columns_;
  Cursor rest_of_facts_;
  bool damaged_ = false;
  BlockState state_;
  bool is_version_3_ = false;                  ///< of the block
  ThreadMemory* thread_ = &state_.threads[0];  ///< of the last event
  unsigned flags_ = 0;                         ///< of the event: same_thread and so on
  trace::Event event_;
  FactReader facts_;
  std::uint64_t lost_ = 0;
  ReplayedContext context_{facts_.facts()};
  std::vector<trace::ProbeValue> values_;
  Known known_;
  Functions functions_;
};

}  // namespace tracer::replay
