// Ranks failed calls by how likely they made their process fail, judging by what happened afterwards.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "explain/prober.h"
#include "explain/story.h"

namespace tracer::explain {

/// Returns "No such file or directory" for "ENOENT"; empty for unknown names.
std::string error_text_of(std::string_view name);
/// True if the words have the error of that name: its text, its name, or its number, as in `errno=2`.
bool says_error(std::string_view name, const std::string& words);

class Ranking {
 public:
  /// Both must outlive it, `process` unchanged.
  Ranking(const Process& process, const Prober& prober);

  /// Returns the score of a failed call: about 100 at most, below 0 for harmless failures.
  [[nodiscard]] int of(const Step& step) const;

  /// True if a lookup failed that nothing connects with the end: neither what the process said afterwards, nor that it
  /// ended in silence right away. It is no cause: programs look for many files that they do not need.
  [[nodiscard]] bool is_lookup_without_words(const Step& step) const;

  /// True if the words name the path or its last part.
  [[nodiscard]] static bool is_mentioned(const std::string& path, const std::string& words);

 private:
  struct Aftermath {
    std::string words;           ///< messages after the step, without remarks
    std::uint64_t distance = 0;  ///< traced calls up to the next message or the end
    bool is_silent = false;
    bool is_cut = false;  ///< a recorded trace has only the beginning of the words
  };
  [[nodiscard]] Aftermath aftermath(const Step& step) const;
  /// True if the words name a path of the call, or a directory that is missing on the way to it.
  [[nodiscard]] bool says_name(const Step& step, const std::string& words) const;
  /// True if a connection failed, and the program then spoke of something else.
  [[nodiscard]] bool is_connect_without_words(const Step& step) const;
  /// True if the program talked to a server before.
  [[nodiscard]] bool has_connected_before(const Step& step) const;
  /// True if the words name the path of another failed lookup with the same error.
  [[nodiscard]] bool names_another(const Step& step, const std::string& words) const;
  /// True if no later call fails with the same error before the message that reports this error.
  [[nodiscard]] bool is_last_before_message(const Step& step) const;
  [[nodiscard]] bool reports_other_error(const Step& step, const std::string& messages) const;

  const Process& process_;
  const Prober& prober_;
  std::vector<const Step*> messages_;
  bool is_uncaught_;         ///< it ended by an exception that nobody caught
  bool has_spoken_ = false;  ///< it wrote to standard error, or an error to standard output
  const Step* last_ = nullptr;
};

}  // namespace tracer::explain
