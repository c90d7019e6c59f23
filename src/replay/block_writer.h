// Packs blocks and writes them to a trace file, in a thread of its own.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "replay/mark.h"

namespace tracer::replay {

/// A block as it stands in the file, with its mark.
struct PackedBlock {
  std::string bytes;
  std::uint32_t size = 0;  ///< unpacked
};

/// Packs with zstd at its quickest level that still finds repetitions.
class Packer {
 public:
  Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;
  ~Packer();

  /// `mark` lacks only its packed size and its checksum.
  PackedBlock pack(Mark mark, std::string_view block);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// Opens a file for a trace, readable by its owner alone; `-` is standard output.
[[nodiscard]] Result<UniqueFd> open_for_recording(const std::string& path);

class BlockWriter {
 public:
  using Complain = std::function<void(std::string_view)>;

  /// `name` stands for the file in what `complain` is told: the first failure, after which nothing is written any more.
  /// It is called by the writer's thread.
  BlockWriter(UniqueFd file, std::string name, Complain complain);
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;
  /// Writes what is left, and the seek table.
  ~BlockWriter();

  /// Hands a block over, and waits if too many are not yet written. Takes the content of `block`, which keeps its
  /// memory or gets that of an older one.
  void write(const Mark& mark, std::string& block);

 private:
  struct Job {
    Mark mark;
    std::string block;
  };
  static constexpr std::size_t most_waiting = 16;

  static void* run(void* writer);
  void work();
  void write_out(std::string_view bytes);
  void write_block(const Job& job);

  UniqueFd file_;
  std::string name_;
  Complain complain_;
  Packer packer_;
  std::string frames_;  ///< the entries of the seek table
  bool broken_ = false;

  pthread_t thread_{};
  bool running_ = false;  ///< the thread is started by the first block: before, the tracer may fork
  std::mutex mutex_;      ///< of all below
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  std::vector<std::string> spare_;
  bool ending_ = false;
};

}  // namespace tracer::replay
