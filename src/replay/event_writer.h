// Writes events and their facts into a block.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "replay/block_state.h"
#include "replay/columns.h"
#include "replay/facts.h"
#include "replay/known_files.h"
#include "replay/mark.h"
#include "replay/varint.h"
#include "spec/spec.h"
#include "trace/event.h"

namespace tracer::replay {

class EventWriter {
 public:
  /// `tables` outlive this.
  explicit EventWriter(const spec::Tables& tables) : tables_(tables) {}
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  void write(const trace::Event& event, const Facts& facts);
  void write_lost(std::uint64_t events);

  [[nodiscard]] bool empty() const { return columns_.empty(); }
  [[nodiscard]] std::size_t size() const { return columns_.size() + facts_.size(); }
  /// Ends the block: writes its bytes over `block`, and starts an empty one. Returns its mark.
  Mark take(std::string& block);

 private:
  /// Texts, files, frames and stacks that the block has already, by what they were written as.
  class Seen {
   public:
    /// Returns the number of `text`, and whether it is new.
    std::pair<std::uint64_t, bool> number_of(std::string_view text);
    /// Writes the number of `text` and, if it is new, the text.
    void write(Encoder& out, std::string_view text);

   private:
    struct Hash {
      using is_transparent = void;
      std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> numbers_;
  };

  struct Dictionaries {
    Seen texts;
    Seen files;
    Seen frames;
    Seen stacks;
    Seen functions;
    KnownFiles last_files;
  };

  void write_head(const trace::Event& event, unsigned flags);
  /// Returns the places of known files, a bit for each.
  unsigned write_facts(const trace::Event& event, const Facts& facts);
  /// Returns a bit for its place, and writes nothing, if it is known.
  unsigned write_file(const ThreadMemory& thread, const FileFact& fact);
  void write_stack(const Facts& facts);
  void write_command(pid_t tid, const Facts& facts);
  void write_function(const trace::LibraryFunction& function);
  void write_call_name(Abi abi, std::uint64_t number);
  void write_memory(const ThreadMemory& thread, std::uint64_t address, std::span<const std::byte> bytes);
  /// Puts `payload_` behind the event, or among its facts, as a record, and clears it.
  void end_record(Tag tag);

  void write_enter(const trace::SyscallEnter& enter, const trace::Event& event);
  void write_exit(const trace::SyscallExit& exit, const trace::Event& event);
  // Each writes what is particular to one of the other kinds of events. Of some their head says all.
  template <typename WithoutMore>
  void put(const WithoutMore&) {}
  void put(const trace::SignalStop& stop);
  void put(const trace::GroupStop& stop);
  void put(const trace::Exec& exec);
  void put(const trace::Fork& fork);
  void put(const trace::Attached& attached);
  void put(const trace::Exited& exited);
  void put(const trace::LibraryEnter& enter);
  void put(const trace::LibraryExit& exit);
  void put(const trace::LibraryCalls& calls);
  void put(const trace::ProbeHit& hit);

  const spec::Tables& tables_;
  ColumnWriter columns_;     ///< the events
  std::string facts_;        ///< of all events
  std::string event_facts_;  ///< of one event
  std::string payload_;
  std::string part_;  ///< of the payload, to be looked up
  Encoder out_{payload_};
  BlockState state_;
  Mark mark_;
  bool new_thread_ = false;  ///< the event is the first of its thread in the block
  Dictionaries seen_;
  std::unordered_map<std::uint64_t, std::uint8_t> argument_counts_;  ///< by the key of the call
  std::unordered_map<pid_t, std::string> commands_;                  ///< of living threads, across blocks
};

/// How many registers the description of a call uses; all of them if it has none.
[[nodiscard]] std::uint8_t used_arguments(const spec::Tables& tables, Abi abi, std::uint64_t number);

}  // namespace tracer::replay
