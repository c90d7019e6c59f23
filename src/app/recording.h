// Builds the parts of --record and --replay.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/patience.h"
#include "cli/options.h"
#include "cli/parser.h"
#include "functions/library/symbol_filter.h"
#include "replay/recorder.h"
#include "replay/replay_engine.h"
#include "replay/trace_file.h"
#include "sysc/source.h"
#include "trace/prototype_source.h"

namespace tracer::app {

/// Replays the file of --explain=FILE if it is a trace file, and not JSON.
[[nodiscard]] cli::TraceFiles with_explained(const cli::Extras& extras);

/// Opens the file of --replay or --explain; null without these options, or if --explain names JSON.
[[nodiscard]] Result<std::unique_ptr<replay::TraceFile>> open_recorded(const cli::FilesAhead& files);

/// Opens the file of --record; null without that option. `is_to_end`: as of watch_for_end().
[[nodiscard]] Result<std::unique_ptr<replay::BlockWriter>> open_recording(
    const cli::Options& options, const IsToEnd& is_to_end, const std::function<void(std::string_view)>& complain);

/// Whether options ask what descriptors and ids stand for.
[[nodiscard]] bool asks_for_names(const cli::Options& options);

/// How many bytes of each string a recording has.
[[nodiscard]] std::uint32_t recorded_text(const cli::Options& options);

/// Adds to the options what the recording knows of its source, and takes away what it does not have. `complain` hears
/// of the latter.
[[nodiscard]] cli::Options with_recorded(cli::Options options, const replay::Head& head,
                                         const std::function<void(std::string_view)>& complain);

/// What the options say of a replay. `functions`: those that filters choose; `complain` hears of filters that choose
/// none.
[[nodiscard]] replay::ReplayOptions replay_options(const cli::Options& options, const replay::TraceFile& file,
                                                   functions::library::LibrarySelection functions,
                                                   const std::function<void(std::string_view)>& complain);

/// The engine shows how far it is on a terminal, and ends at signals. `tables` outlive it.
[[nodiscard]] std::unique_ptr<replay::ReplayEngine> make_replay_engine(
    const cli::Options& options, std::unique_ptr<replay::TraceFile> file,
    functions::library::LibrarySelection functions, const spec::Tables& tables,
    const std::function<void(std::string_view)>& complain);

/// Finds the prototypes of a recording's functions in files of this machine, where these are still the same.
class PrototypesOfFiles final : public trace::PrototypeSource {
 public:
  /// `source` outlives this.
  explicit PrototypesOfFiles(trace::PrototypeSource& source) : source_(source) {}
  const spec::Call* find(const trace::LibraryFunction& function, pid_t tid) override;

 private:
  trace::PrototypeSource& source_;
};

/// What the recording says of itself. `engine`: its name. `definitions`: of --define.
[[nodiscard]] replay::Head head_of(const cli::Options& options, const std::string& engine,
                                   const std::vector<sysc::Source>& definitions);

}  // namespace tracer::app
