// Reads events and their facts from a block.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "replay/block_state.h"
#include "replay/facts.h"
#include "replay/varint.h"
#include "trace/event.h"

namespace tracer::replay {

/// Answers what a call's decoder asks of registers.
class ReplayedContext final : public trace::CallContext {
 public:
  explicit ReplayedContext(const Facts& facts) : facts_(facts) {}
  [[nodiscard]] std::optional<Value> vector(unsigned index) const override {
    return find(RegisterFact::Kind::vector, index);
  }
  [[nodiscard]] std::optional<Value> x87(unsigned index) const override { return find(RegisterFact::Kind::x87, index); }
  [[nodiscard]] std::optional<int> error_number() const override;

 private:
  [[nodiscard]] std::optional<Value> find(RegisterFact::Kind kind, unsigned index) const;

  const Facts& facts_;
};

class EventReader {
 public:
  /// Without `facts`, facts() lacks what is needed for decoding alone: events are quicker to read so.
  explicit EventReader(bool facts = true) : facts_wanted_(facts) {}
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  /// Starts with a block, which has to live until the next one.
  void begin(std::string_view block);

  enum class Found : std::uint8_t { event, lost, end, damage };
  /// Goes on to the next event. After `event`, event() and facts() are valid until the next call; after `lost`, lost().
  Found next();

  [[nodiscard]] const trace::Event& event() const { return event_; }
  /// What is changed in it has no effect on later events.
  [[nodiscard]] trace::Event& event() { return event_; }
  /// All but the files.
  [[nodiscard]] const Facts& facts() const { return facts_; }
  /// Returns the file of a descriptor at the event; null if that is unknown.
  [[nodiscard]] const trace::OpenFile* file(FileFact::Owner owner, std::int32_t pid, std::int32_t fd) const;
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  /// Returns the name that the recording program had for a system call; empty if the block has none.
  [[nodiscard]] std::string_view call_name(Abi abi, std::uint64_t number) const;

 private:
  /// A file of the block. Most are never asked for.
  struct KnownFile {
    std::string_view record;
    std::unique_ptr<trace::OpenFile> read;  ///< null: nobody has asked
  };
  /// What records of the block refer to by number.
  struct Known {
    std::deque<std::string> texts;
    std::vector<KnownFile> files;
    std::vector<FrameFact> frames;
    std::vector<std::string_view> stacks;
    std::vector<const trace::LibraryFunction*> functions;
    std::unordered_map<std::uint64_t, std::string_view> call_names;
  };
  struct Record {
    Tag tag{};
    std::string_view payload;
  };
  /// A descriptor of the event.
  struct FileReference {
    FileFact::Owner owner = FileFact::Owner::task;
    std::int32_t pid = 0;
    std::int32_t fd = 0;
    std::size_t number = 0;  ///< of the file
  };
  /// Whether there is a record, which is then `record_`, and is read once, however often it is asked for.
  bool has_record();
  void pass_record() { has_record_ = false; }
  void take_event(Tag tag, Cursor in);
  void take_other_event(Tag tag, Cursor& in);
  void take_head(Cursor& in);
  /// Adds a fact, or a definition, to what is known; passes over records that this version does not know.
  void take_fact(const Record& record);
  void take_memory(Cursor in);
  void take_file(Cursor in);
  void take_process(Cursor in);
  void take_name(Cursor in);
  void take_register(Cursor in);
  void take_stack(Cursor in);
  const trace::LibraryFunction* take_function(Cursor& in);
  const std::string& take_text(Cursor& in);

  void take_syscall_enter(Cursor& in);
  void take_syscall_exit(Cursor& in);
  [[nodiscard]] trace::LibraryEnter library_enter(Cursor& in);
  [[nodiscard]] trace::LibraryExit library_exit(Cursor& in);
  [[nodiscard]] trace::ProbeHit probe_hit(Cursor& in);

  bool facts_wanted_;
  Cursor rest_{std::string_view{}};
  Record record_;
  bool has_record_ = false;
  bool damaged_ = false;
  BlockState state_;
  ThreadMemory* thread_ = &state_.threads[0];  ///< of the last event
  unsigned flags_ = 0;                         ///< of the event: same_thread and so on
  trace::Event event_;
  Facts facts_;
  std::vector<FileReference> files_;
  std::uint64_t lost_ = 0;
  ReplayedContext context_{facts_};
  std::vector<trace::ProbeValue> values_;
  mutable Known known_;
  /// All of the file, by their numbers: views keep pointers to them.
  std::unordered_map<std::uint32_t, trace::LibraryFunction> all_functions_;
};

}  // namespace tracer::replay
