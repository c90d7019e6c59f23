// Files whose devices may not answer, for a tracer that has to be able to leave its tracees nevertheless.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/patience.h"
#include "pipeline/sink/sink.h"

namespace tracer::pipeline::sink {

/// As open_file() opens it; the error is the sentence for the user.
Result<UniqueFd> open_for_writing(const std::string& path, bool append);

/// One thread writes to all of them, in which it may wait for good. Who hands output over waits for it, too, but no
/// longer when `is_to_end` says so, which is asked now and then: what the files do not take then is lost, and that is
/// said.
class PatientFiles {
 public:
  PatientFiles(IsToEnd is_to_end, Complain complain);

  /// As open_file().
  [[nodiscard]] Result<std::unique_ptr<Sink>> open(const std::string& path, bool append) const;
  /// As open_file_or_drop(). It is the thread that opens the file, as a pipe may have no reader yet.
  [[nodiscard]] std::unique_ptr<Sink> open_or_drop(const std::string& path, bool append) const;

 private:
  class Desk;
  class PatientSink;

  std::shared_ptr<Desk> desk_;
};

}  // namespace tracer::pipeline::sink
