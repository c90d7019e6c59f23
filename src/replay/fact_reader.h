// Reads from a block what decoding an event needs beside the event.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/block_state.h"
#include "replay/facts.h"
#include "replay/known_files.h"
#include "replay/varint.h"
#include "trace/library_call.h"

namespace tracer::replay {

struct Record {
  Tag tag{};
  std::string_view payload;
};

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

class FactReader {
 public:
  /// Starts with a block.
  void begin();
  /// Forgets the facts of the last event.
  void clear();
  /// Adds a fact of an event of that thread, or a definition, to what is known; passes over records that this version
  /// does not know. The thread has to live until clear().
  void take(const Record& record, const ThreadMemory& thread);
  /// The event has the files that the block has said last of the descriptors at these places; a bit stands for each.
  void take_known_files(std::uint64_t places, const ThreadMemory& thread) {
    known_places_ = places;
    thread_ = &thread;
  }
  /// Returns the text with the number that comes next; a new one follows.
  const std::string& take_text(Cursor& in);
  /// Whether the block makes more of a few bytes than any of ours: it is damaged, and what was too much is left out.
  [[nodiscard]] bool is_excessive() const { return excessive_; }

  /// All but the files.
  [[nodiscard]] const Facts& facts() const { return facts_; }
  /// Returns the file of a descriptor at the event; null if that is unknown.
  [[nodiscard]] const trace::OpenFile* file(FileFact::Owner owner, std::int32_t pid, std::int32_t fd) const;

 private:
  /// A file of the block. Most are never asked for.
  struct KnownFile {
    std::string_view record;
    std::unique_ptr<trace::OpenFile> read;  ///< null: nobody has asked
  };
  /// A descriptor of the event.
  struct FileReference {
    FileFact::Owner owner = FileFact::Owner::task;
    std::int32_t pid = 0;
    std::int32_t fd = 0;
    std::size_t number = 0;  ///< of the file
  };
  /// What records of the block refer to by number.
  struct Known {
    std::deque<std::string> texts;
    std::vector<KnownFile> files;
    KnownFiles last_files;
    std::vector<FrameFact> frames;
    std::vector<std::string_view> stacks;
  };
  /// Counts bytes that an event, or a whole block, makes us keep; false if they are too many.
  bool spend(std::size_t& spent, std::size_t bytes);
  void take_memory(Cursor in, const ThreadMemory& thread);
  void take_file(Cursor in, const ThreadMemory& thread);
  /// Returns the number of the file of a descriptor of the event.
  [[nodiscard]] std::optional<std::uint64_t> file_number(FileFact::Owner owner, std::int32_t pid,
                                                         std::int32_t fd) const;
  void take_process(Cursor in);
  void take_name(Cursor in);
  void take_register(Cursor in);
  void take_stack(Cursor in);

  Facts facts_;
  std::vector<FileReference> files_;
  std::uint64_t known_places_ = 0;        ///< a bit for each
  const ThreadMemory* thread_ = nullptr;  ///< which has the known files
  std::uint64_t address_ = 0;             ///< behind the last memory
  mutable Known known_;
  std::size_t of_block_ = 0;  ///< bytes of what is known
  std::size_t of_event_ = 0;  ///< bytes of its facts
  bool excessive_ = false;
};

}  // namespace tracer::replay
