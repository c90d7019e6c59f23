// Reads a trace file block by block: a file, or a pipe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "replay/head.h"
#include "replay/mark.h"

namespace tracer::replay {

/// Where a block is in its file, with its mark.
struct BlockPlace {
  std::uint64_t mark_at = 0;      ///< in bytes from the start of the file
  std::uint32_t packed_size = 0;  ///< of the block alone
};

class TraceFile {
 public:
  /// Opens a file, `-` for standard input, and reads its head.
  static Result<std::unique_ptr<TraceFile>> open(const std::string& path);
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile();

  [[nodiscard]] const Head& head() const { return head_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Blocks lack what follows their events from now on, but for those that may have a call of these bloom_bits().
  void leave_facts_out(std::vector<std::uint64_t> calls_with_facts = {});
  /// Goes on to the next block whose mark `wanted` wants. Returns its bytes, valid until the next call; empty at the
  /// end of what is readable.
  std::string_view next(const std::function<bool(const Mark&)>& wanted);
  /// That of the last block.
  [[nodiscard]] const Mark& mark() const { return mark_; }

  /// Whether blocks can be read in any order: it is a file, and no pipe.
  [[nodiscard]] bool can_seek() const { return can_seek_; }
  /// Finds all blocks but the head, by the seek table; without one, as the recorder was killed, by their marks. Only
  /// where can_seek().
  [[nodiscard]] std::vector<BlockPlace> places();
  /// Adds the blocks behind those of places(), or of the last call of this, that a recorder has written since.
  void find_more(std::vector<BlockPlace>& places);
  /// After places(): whether the recording was ended, so that nothing is missing.
  [[nodiscard]] bool is_whole() const { return has_seek_table_; }
  /// Reads one of places(). Returns its bytes, valid until the next call; empty if it is damaged.
  std::string_view at(const BlockPlace& place);

  /// What the file lacks, in words, after its end was reached; empty: nothing.
  [[nodiscard]] std::string missing() const;
  /// How many bytes were read or passed over.
  [[nodiscard]] std::uint64_t position() const { return position_; }
  /// How many bytes there are; 0 for a pipe.
  [[nodiscard]] std::uint64_t size() const { return size_; }

  /// Has next() return nothing once `fd` is readable while it waits for a pipe. -1: never.
  void stop_waiting_at(int fd) { interrupt_ = fd; }

 private:
  class Unpacker;
  TraceFile(UniqueFd file, std::string name);

  enum class End : std::uint8_t {
    none,
    regular,    ///< the seek table follows
    abrupt,     ///< nothing follows: the recorder was killed
    truncated,  ///< in the middle of a block
    damaged,    ///< what follows is no block
    interrupted,
  };
  /// Reads a mark; false at the end.
  bool read_mark();
  /// Reads the block of the mark; false if it is damaged.
  bool read_block();
  bool skip_block();
  bool seek(std::uint64_t position);
  /// Returns the entries of the seek table at the end of the file; empty if there is none.
  [[nodiscard]] std::vector<Frame> read_seek_table();
  /// Reads as many bytes as there are, and returns whether they were all there.
  bool read(std::string& into, std::size_t size);
  /// Waits until there is something to read; false if it is not waited for any more.
  bool await_input();
  void end(End how) { end_ = end_ == End::interrupted ? end_ : how; }

  UniqueFd file_;
  std::string name_;
  Head head_;
  Mark mark_;
  std::string mark_bytes_;
  std::string packed_;
  std::string block_;
  std::unique_ptr<Unpacker> unpacker_;
  std::uint64_t position_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t good_ = 0;    ///< where the last good block ends, of next() or of find_more()
  std::uint64_t events_ = 0;  ///< of all blocks so far
  std::uint32_t sequence_ = 0;
  int interrupt_ = -1;
  bool can_seek_ = false;
  bool has_seek_table_ = false;
  End end_ = End::none;
};

}  // namespace tracer::replay
