// Where packed blocks go: into a file at once, or into memory until something happens.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "replay/mark.h"
#include "replay/packer.h"

namespace tracer::replay {

/// Gets sentences for the user.
using Complain = std::function<void(std::string_view)>;

/// Opens a file for a trace, readable by its owner alone; `-` is standard output.
[[nodiscard]] Result<UniqueFd> open_for_recording(const std::string& path);

/// A trace file that is being written.
class TraceWriter {
 public:
  /// `name` stands for the file in the complaint about its first failure, after which nothing is written any more.
  TraceWriter(UniqueFd file, std::string name, Complain complain);

  void write(const PackedBlock& block);
  /// Writes the seek table.
  void finish();

 private:
  void write_out(std::string_view bytes);

  UniqueFd file_;
  std::string name_;
  Complain complain_;
  std::string frames_;  ///< the entries of the seek table
  bool broken_ = false;
};

class BlockTarget {
 public:
  BlockTarget() = default;
  BlockTarget(const BlockTarget&) = delete;
  BlockTarget& operator=(const BlockTarget&) = delete;
  virtual ~BlockTarget() = default;

  /// The first block is the head.
  virtual void take(const Mark& mark, PackedBlock block) = 0;
  /// What was held back is wanted.
  virtual void trigger() {}
  /// There are no more blocks.
  virtual void end() = 0;
};

class FileTarget final : public BlockTarget {
 public:
  explicit FileTarget(TraceWriter file) : file_(std::move(file)) {}
  void take(const Mark& /*mark*/, PackedBlock block) override { file_.write(block); }
  void end() override { file_.finish(); }

 private:
  TraceWriter file_;
};

/// How much a flight recorder holds: all blocks of the last `time`, of at most `bytes`.
struct RingLimits {
  std::optional<std::chrono::nanoseconds> time;
  std::uint64_t bytes = std::uint64_t{1} << 30U;
};

/// A flight recorder: holds the last blocks, and writes them to a file, with what follows, when it is triggered.
class RingTarget final : public BlockTarget {
 public:
  /// The second file is `path`.2, and so on.
  RingTarget(std::string path, RingLimits limits, Complain complain)
      : path_(std::move(path)), limits_(limits), complain_(std::move(complain)) {}

  void take(const Mark& mark, PackedBlock block) override;
  void trigger() override;
  void end() override;

 private:
  struct Held {
    Mark mark;
    PackedBlock block;
  };
  void drop_old();

  std::string path_;
  RingLimits limits_;
  Complain complain_;
  PackedBlock head_;     ///< empty before it comes
  bool is_due_ = false;  ///< a trigger came before it
  std::deque<Held> held_;
  std::uint64_t bytes_ = 0;           ///< of what is held
  std::optional<TraceWriter> file_;   ///< while what follows a trigger is written
  std::chrono::nanoseconds until_{};  ///< CLOCK_REALTIME; where the file ends
  unsigned files_ = 0;
};

}  // namespace tracer::replay
