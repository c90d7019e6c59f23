// Reads from a block what decoding an event needs beside the event.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/block_state.h"
#include "replay/facts.h"
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
  /// The arguments of a system call, where most memory is.
  using Arguments = std::array<std::uint64_t, 6>;

  /// Starts with a block.
  void begin();
  /// Forgets the facts of the last event.
  void clear();
  /// Adds a fact, or a definition, to what is known; passes over records that this version does not know.
  void take(const Record& record, const Arguments& arguments);
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
    std::vector<FrameFact> frames;
    std::vector<std::string_view> stacks;
  };
  /// Counts bytes that an event, or a whole block, makes us keep; false if they are too many.
  bool spend(std::size_t& spent, std::size_t bytes);
  void take_memory(Cursor in, const Arguments& arguments);
  void take_file(Cursor in);
  void take_process(Cursor in);
  void take_name(Cursor in);
  void take_register(Cursor in);
  void take_stack(Cursor in);

  Facts facts_;
  std::vector<FileReference> files_;
  std::uint64_t address_ = 0;  ///< behind the last memory
  mutable Known known_;
  std::size_t of_block_ = 0;  ///< bytes of what is known
  std::size_t of_event_ = 0;  ///< bytes of its facts
  bool excessive_ = false;
};

}  // namespace tracer::replay
