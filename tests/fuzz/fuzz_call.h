// One call of a hostile tracee, decoded to text and to JSON.
#pragma once

#include <string>

#include "decode/decoder.h"
#include "source.h"

namespace tracer::fuzz {

/// What a user may rely on whatever a tracee does. Empty if it holds, else what does not.
using Complaint = std::string;

/// Feeds calls with arguments and memory from a source into one decoder. The state of a call is reused for the next,
/// as it is for the calls of a thread.
class CallFuzzer {
 public:
  explicit CallFuzzer(const spec::Tables& tables);
  ~CallFuzzer();
  CallFuzzer(const CallFuzzer&) = delete;
  CallFuzzer& operator=(const CallFuzzer&) = delete;

  Complaint one_call(Source& source);

  /// What the last call became.
  [[nodiscard]] std::string_view text() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace tracer::fuzz
