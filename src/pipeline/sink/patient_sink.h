// A file whose device may not answer, for a tracer that has to be able to leave its tracees nevertheless.
#pragma once

#include "pipeline/sink/sink.h"

namespace tracer::pipeline::sink {

/// As open_file() opens it; the error is the sentence for the user.
Result<UniqueFd> open_for_writing(const std::string& path, bool append);

/// As open_file(). A thread writes to the file, in which it may wait for good. Who hands output over waits for it, too,
/// but no longer when `is_to_end` says so, which is asked now and then: what the file does not take then is lost, and
/// that is said.
Result<std::unique_ptr<Sink>> open_file_patiently(const std::string& path, bool append, std::function<bool()> is_to_end,
                                                  Complain complain);

}  // namespace tracer::pipeline::sink
