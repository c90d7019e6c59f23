// The processes of a run as a tree (--format=tree) and as a graph for graphviz (--format=dot).
#pragma once

#include "pipeline/exports/history.h"

namespace tracer::pipeline::exports {

/// Writes the processes when the run is over; what they look like is the matter of those who derive from it.
class ProcessExport : public Exporter {
 public:
  explicit ProcessExport(Write write) : write_(std::move(write)) {}

  void process_appears(const Process& process) override { history_.process_appears(process); }
  void thread_appears(const Thread& thread) override { history_.thread_appears(thread); }
  void executes(const Thread& thread) override { history_.executes(thread); }
  void process_goes(const Process& process) override { history_.process_goes(process); }
  void lost(std::uint64_t events) override { lost_ += events; }

 protected:
  [[nodiscard]] const History& history() const { return history_; }
  [[nodiscard]] std::uint64_t lost_events() const { return lost_; }
  void write(std::string_view text) const { write_(text); }

 private:
  Write write_;
  History history_;
  std::uint64_t lost_ = 0;
};

/// Each process: its name and pid, how it ended, how long it lived; below, every program that it executed as a command
/// line for a shell, and what that changed in the environment.
class Tree final : public ProcessExport {
 public:
  using ProcessExport::ProcessExport;
  void finish() override;

 private:
  void write_node(const History::Node& node, const std::string& first, const std::string& next) const;
};

/// A digraph in graphviz's language, a box for each process and an arrow to each child.
class Dot final : public ProcessExport {
 public:
  using ProcessExport::ProcessExport;
  void finish() override;
};

}  // namespace tracer::pipeline::exports
