// All processes of a run, for exports that show them when it is over.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "pipeline/exports/exporter.h"

namespace tracer::pipeline::exports {

class History {
 public:
  /// Further processes are counted only.
  static constexpr std::size_t most_processes = 100'000;

  struct Node {
    Process process;
    std::vector<std::size_t> children;  ///< in the order of their start
    unsigned threads = 0;               ///< that it ever had
  };

  void process_appears(const Process& process);
  void thread_appears(const Thread& thread);
  void executes(const Thread& thread);
  void process_goes(const Process& process);

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  /// The processes whose parents are unknown.
  [[nodiscard]] const std::vector<std::size_t>& roots() const { return roots_; }
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  [[nodiscard]] Node* find(const Process& process);

  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::size_t> indexes_;  ///< by the id of the process
  std::vector<std::size_t> roots_;
  std::uint64_t left_out_ = 0;
};

/// Returns how a process ended: `exit 0`, `killed by SIGSEGV (core dumped)`, `detached`, `still running`.
[[nodiscard]] std::string ending(const Process& process);

/// Returns `1.23 ms`, with three digits.
[[nodiscard]] std::string duration_text(Time time);

}  // namespace tracer::pipeline::exports
