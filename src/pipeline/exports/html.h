// --format=html: a report in one file, which a browser shows without asking any host for anything.
//
// The page is report/report.html with report.css and report.js. The data is a script element of another type: gzip in
// base64 of a length (4 bytes, little-endian), as many bytes of JSON (the head), and the columns of the calls, each a
// sequence of LEB128 numbers, in the order and with the lengths that the head's `columns` gives; the last column is the
// JSON texts of the arguments.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/latency_bucket.h"
#include "pipeline/exports/call_columns.h"
#include "pipeline/exports/history.h"

namespace tracer::pipeline::exports {

/// Returns what --explain says of the run as JSON (docs/json.md); empty: nothing.
using Verdict = std::function<std::string()>;

/// Calls of one name, all of them.
struct NamedCalls {
  std::uint64_t calls = 0;
  std::uint64_t errors = 0;
  Time total{};
  Time longest{};
  std::array<std::uint64_t, latency_buckets> latencies{};

  void add(const Call& call);
  /// Returns the time that `percent` of the calls did not exceed, to an eighth.
  [[nodiscard]] Time percentile(unsigned percent) const;
};

/// Calls about one file or socket, all of them.
struct ObjectCalls {
  std::uint64_t calls = 0;
  std::uint64_t errors = 0;
  std::uint64_t received = 0;  ///< bytes
  std::uint64_t sent = 0;
  Time total{};
  std::uint32_t error = 0;  ///< the last one; a text
};

/// Stacks as a tree: node 0 is the root, and each other node is a frame below that of its parent, its caller.
class StackTree {
 public:
  struct Node {
    std::uint32_t parent = 0;
    std::uint32_t frame = 0;  ///< a text
    std::uint64_t calls = 0;  ///< that the frame made itself
    Time time{};
  };
  /// Returns the node of the innermost frame.
  std::uint32_t add(std::span<const trace::StackFrame> stack, TextTable& texts, Time duration);
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }

 private:
  static constexpr std::size_t most = 200'000;  ///< further stacks count for the node that they have in common
  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> children_;  ///< by parent and frame
};

class Html final : public Exporter {
 public:
  static constexpr std::size_t most_calls = 1'000'000;

  /// `verdict` is asked when the run is over.
  Html(Write write, Verdict verdict, std::size_t calls_to_keep = most_calls);

  void begins(const trace::EventTime& first) override;
  void process_appears(const Process& process) override { history_.process_appears(process); }
  void thread_appears(const Thread& thread) override;
  void executes(const Thread& thread) override;
  void call(const Call& call) override;
  void signal(const Signal& signal) override;
  void thread_goes(const Thread& thread) override;
  void process_goes(const Process& process) override { history_.process_goes(process); }
  void lost(std::uint64_t events) override { lost_ += events; }
  void finish() override;

 private:
  struct ThreadSpan {
    pid_t tid = 0;
    std::uint64_t process = 0;
    Time start{};
    Time last{};
    std::string command;
  };
  /// A point of time on the line of a thread.
  struct Mark {
    std::uint64_t thread = 0;
    Time time{};
    std::uint32_t text = 0;
  };

  [[nodiscard]] std::string object_of(const Call& call) const;
  void mark(const Thread& thread, Time time, std::string_view text);
  [[nodiscard]] Json head(const std::vector<std::pair<std::string_view, std::string>>& columns) const;
  [[nodiscard]] Json processes() const;
  [[nodiscard]] std::vector<std::pair<std::string_view, std::string>> columns() const;

  Write write_;
  Verdict verdict_;
  trace::EventTime first_;
  Time last_{};
  std::uint64_t lost_ = 0;
  History history_;
  std::vector<ThreadSpan> threads_;  ///< by Thread::id - 1
  std::vector<Mark> marks_;
  TextTable texts_;
  std::map<std::uint32_t, NamedCalls> named_;     ///< by the text of the name
  std::map<std::uint32_t, ObjectCalls> objects_;  ///< by the text of the object
  StackTree stacks_;
  CallColumns calls_;
};

}  // namespace tracer::pipeline::exports
