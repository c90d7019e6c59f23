// Reads debugging information in a process of its own, because the files belong to tracees, and small files can cost
// any memory and time or find a defect of libdw. The process has no rights: it is given descriptors, answers questions,
// and can open, write and start nothing. Its memory and its time are limited. If it dies, the answer is "unknown" for
// this file from then on.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "debuginfo/message.h"

namespace tracer::debuginfo {

/// An object and the separate files with its debugging information. Invalid descriptors: there are none.
struct ObjectFiles {
  std::string name;  ///< path of the object
  UniqueFd object;
  UniqueFd debug;      ///< the separate file
  UniqueFd alternate;  ///< what several files have in common (.gnu_debugaltlink)
};

/// What the reader process has of a file.
struct OpenedFile {
  /// Parsed information that is kept between questions.
  struct State {
    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    virtual ~State() = default;
  };

  ObjectFiles files;
  std::unique_ptr<State> state;  ///< of the kind that the file's questions need; null before the first
};

/// A file about which questions are asked; in the tracer. All questions about one are of one kind.
class ReadFile {
 public:
  explicit ReadFile(ObjectFiles files) : files_(std::move(files)) {}

 private:
  friend class Reader;

  ObjectFiles files_;
  std::uint32_t number_ = 0;   ///< in the process that was started as number `process_`
  std::uint64_t process_ = 0;  ///< 0: the file has not been sent
  bool refused_ = false;
  std::chrono::steady_clock::time_point first_{};  ///< question
  double used_ = 0;                                ///< seconds of processor time for all questions
};

class Reader {
 public:
  /// Answers a question; runs in the reader process, which is a copy of the tracer as it was when it was started.
  using Answer = void (*)(OpenedFile& file, Input& question, Output& answer);
  using Note = std::function<void(std::string_view)>;

  /// `note` receives a sentence about each file that is too hard to read. The process starts with the first question.
  explicit Reader(Note note = {});
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();

  /// Returns the answer; empty if there is none.
  std::optional<Input> ask(ReadFile& file, Answer answer, const Output& question);

 private:
  bool start();
  void stop();
  bool send(ReadFile& file, Answer answer, const Output& question);
  std::optional<Input> receive(ReadFile& file);
  /// Reads all bytes, or fails if the process dies or uses more processor time than `budget` seconds.
  bool read_all(char* into, std::size_t size, double budget);

  Note note_;
  UniqueFd socket_;
  UniqueFd process_;  ///< a pidfd
  pid_t pid_ = -1;
  std::uint64_t starts_ = 0;
  std::uint32_t files_ = 0;
};

}  // namespace tracer::debuginfo
