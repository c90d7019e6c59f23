// --view: a person looks through a recording, or through the run that has just ended.
//
// A live run is recorded first, by a child of this process, into a file that nobody else sees (or that of --record),
// and the viewer opens when it has ended. Until then the terminal is the program's own: what it writes, reads and asks
// of its terminal is as without the tracer, so that editors, shells and passwords work, and a trace of them shows what
// they do otherwise, too. A terminal of its own for the program (pty) would change what is traced: its size, who gets
// Ctrl-C, what isatty(3) and ttyname(3) say.
//
// Processes that run already do not have this terminal from the tracer: there the viewer opens at once, and follows the
// recording while it grows.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/child.h"
#include "base/unique_fd.h"
#include "cli/options.h"
#include "pipeline/view.h"
#include "replay/trace_file.h"
#include "spec/growing_tables.h"

namespace tracer::app {

/// Writes nothing: the run is only recorded.
class SilentView final : public pipeline::View {
 public:
  void call_begins(pipeline::Thread& /*thread*/, const trace::Memory& /*memory*/) override {}
  void call_ends(pipeline::Thread& /*thread*/, const pipeline::CallEnd& /*end*/,
                 const trace::Memory& /*memory*/) override {}
  void lost(std::uint64_t /*events*/) override {}
};

/// Returns why there is no terminal for the viewer; done if there is one.
[[nodiscard]] Status check_viewer_terminal(const cli::Options& options);

/// A run that a child of this process records.
struct ViewedRun {
  bool is_recorder = false;                 ///< this process is that child, and has to trace
  std::unique_ptr<replay::TraceFile> file;  ///< in the other process, when the child has ended; null: it has no events
  int wait_status = 0;                      ///< that of the child, when it has ended
  Child recorder;                           ///< the child, while it goes on
  UniqueFd messages;                        ///< a file with what it says meanwhile
};

/// Forks. In the child, `options` say from then on that, and where to, it records.
[[nodiscard]] Result<ViewedRun> record_for_view(cli::Options& options);

/// Ends a recorder that goes on, and says what it has said.
void end_recorder(ViewedRun& run);

/// Returns the wait status to end with. `options` are those of with_recorded().
int view_recording(const cli::Options& options, const spec::Tables& tables, spec::GrowingTables& more,
                   std::unique_ptr<replay::TraceFile> file, const std::function<void(std::string_view)>& complain);

}  // namespace tracer::app
