// The interface of exports: each writes the facts of a run in one format.
#pragma once

#include <functional>
#include <string_view>

#include "pipeline/exports/facts.h"
#include "trace/event.h"

namespace tracer::pipeline::exports {

/// Takes the next part of the output. It never fails: the sink behind it reports a failure once.
using Write = std::function<void(std::string_view)>;

/// An export overrides what it shows. Facts are valid during the call.
class Exporter {
 public:
  Exporter() = default;
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;
  virtual ~Exporter() = default;

  /// Called first, with the time of the first event.
  virtual void begins(const trace::EventTime& /*first*/) {}
  virtual void process_appears(const Process& /*process*/) {}
  virtual void thread_appears(const Thread& /*thread*/) {}
  /// The thread created a child, which appears later.
  virtual void forks(const Thread& /*thread*/, pid_t /*child*/, bool /*is_thread*/, Time /*time*/) {}
  /// A thread runs a new program; its process's `execs` ends with it.
  virtual void executes(const Thread& /*thread*/) {}
  virtual void call(const Call& /*call*/) {}
  virtual void signal(const Signal& /*signal*/) {}
  /// The thread has no more events; `last` is the time of its last one.
  virtual void thread_goes(const Thread& /*thread*/) {}
  virtual void process_goes(const Process& /*process*/) {}
  /// The engine has lost this many events here.
  virtual void lost(std::uint64_t /*events*/) {}
  /// Called last, also if the run was interrupted: the output is complete after it.
  virtual void finish() = 0;
};

}  // namespace tracer::pipeline::exports
