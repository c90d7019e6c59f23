// Explains a process of a recording that a person looks through.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "replay/head.h"
#include "replay/viewer/viewer.h"
#include "spec/spec.h"

namespace tracer::app {

/// Returns in lines what --explain says of the process, whose rows are in the recording up to `block` and behind;
/// nothing once `goes_on` returns false.
[[nodiscard]] std::optional<std::vector<std::string>> verdict_on(pid_t process, std::size_t block,
                                                                 replay::viewer::Recording& recording,
                                                                 const replay::Head& head, const cli::Options& options,
                                                                 const spec::Tables& tables,
                                                                 const replay::viewer::ViewerOptions::GoesOn& goes_on);

}  // namespace tracer::app
