// Rows for a person to look through: each call is one, complete with its end, wherever that is; so are signals, exits
// and notes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "pipeline/views/noise_finder.h"
#include "pipeline/views/text.h"
#include "trace/event.h"

namespace tracer::pipeline::views {

struct Row {
  enum class Kind : std::uint8_t { call, note };
  Kind kind = Kind::note;
  bool ended = true;         ///< false: the end of the call is not known
  bool is_function = false;  ///< of a call: of a library's function
  bool failed = false;       ///< of a call, or of an exit: with a status other than 0
  pid_t tid = 0;
  pid_t tgid = 0;
  trace::EventTime time;
  std::optional<std::chrono::nanoseconds> duration;
  std::string text;                ///< printable; of details in several lines
  std::string below;               ///< of details: the lines of the stack and of dumps
  std::string command;             ///< of details: that of the thread, printable
  std::string name;                ///< of a call
  std::vector<std::int32_t> fds;   ///< the descriptors that it is about, the one that it returns last
  const FoldRule* rule = nullptr;  ///< by which it is noise; null: it is none
  NoisyCall noisy;                 ///< what counts of it then
  NoisyResult result;
};

struct RowOptions {
  bool details = false;  ///< each argument has a line, and stacks and dumps are kept
};

class RowsView final : public TextView {
 public:
  RowsView(TextViewOptions options, RowOptions wanted, const spec::Tables& tables, const decode::Decoder& decoder,
           const names::Names& names);
  ~RowsView() override;

  /// From now on only the ends of open calls are of interest.
  void expect_ends() { only_ends_ = true; }
  /// Whether there are open calls.
  [[nodiscard]] bool has_open() const { return !open_.empty(); }
  /// Whether the thread's innermost system call is open, and has a row.
  [[nodiscard]] bool is_open(pid_t tid) const;
  /// Whether a function call (LibraryEnter::call) is open, and has a row.
  [[nodiscard]] bool is_open_function(std::uint64_t call) const { return open_functions_.contains(call); }
  /// Returns all rows, those of open calls as far as they are known. Called once, last.
  std::vector<Row> take();

  void thread_appears(Thread& thread, const Moment& moment) override;
  void thread_goes(Thread& thread) override;
  void call_begins(Thread& thread, const trace::Memory& memory) override;
  void call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) override;
  void call_is_lost(Thread& thread, const Moment& moment) override;
  void call_is_dropped(Thread& thread) override;
  void call_is_unwound(Thread& thread, const Moment& moment) override;
  void fork(Thread& thread, const Moment& moment, const trace::Fork& fork) override;
  void exec(Thread& thread, const Moment& moment) override;
  void superseded(Thread& leader, Thread& former, const Moment& moment, bool quietly) override;
  void exits(Thread& thread, const Moment& moment, int status) override;
  void detached(Thread& thread, const Moment& moment) override;
  void event_done() override;

 protected:
  void write_prefix(Thread& thread, const Moment& moment) override;

 private:
  class Collected;
  /// A thread, and how many functions are open around the call.
  using Place = std::pair<pid_t, std::size_t>;

  RowsView(Collected* sink, TextViewOptions options, RowOptions wanted, const spec::Tables& tables,
           const decode::Decoder& decoder, const names::Names& names);

  static Place place_of(const Thread& thread) { return {thread.tid, thread.outer.size()}; }
  /// Makes rows of the lines that were written and belong to no call.
  void collect_notes();
  /// Gives the lines that were just written to the row of the thread's call, which has ended; null: there is none.
  Row* end_row(const Thread& thread);
  /// Adds the descriptors among the arguments.
  void add_fds(Row& row, const Thread& thread) const;
  /// Adds the descriptor that the call returns, if it is one.
  void add_result(Row& row, const Thread& thread, const CallEnd& end) const;
  void find_noise(Row& row, const Thread& thread, const CallEnd& end);

  Collected& sink_;
  RowOptions wanted_;
  NoiseFinder noise_;
  std::vector<Row> rows_;
  std::set<std::size_t> dropped_;
  std::map<Place, std::size_t> open_;  ///< the rows of open calls
  std::set<std::uint64_t> open_functions_;
  std::map<pid_t, Thread*> threads_;
  std::map<pid_t, bool> folding_;  ///< by thread: its last call is noise
  Row line_;                       ///< whose line was begun last, and when
  bool only_ends_ = false;
};

}  // namespace tracer::pipeline::views
