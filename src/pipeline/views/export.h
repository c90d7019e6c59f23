// --format=tree, chrome, sqlite, …: passes the decoded calls and events to an export.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>

#include "decode/decoder.h"
#include "pipeline/channels.h"
#include "pipeline/exports/process_table.h"
#include "pipeline/view.h"
#include "render/json_emitter.h"

namespace tracer::pipeline::views {

/// Writes a call as JSON and remembers of what type its result is.
class ExportEmitter final : public render::JsonEmitter {
 public:
  using JsonEmitter::JsonEmitter;

  void begin_result(const render::CallResult& result) override {
    in_result_ = true;
    result_ = result;
    is_descriptor_ = false;
    JsonEmitter::begin_result(result);
  }
  void scalar(std::uint64_t bits, const spec::Type& type) override {
    is_descriptor_ = is_descriptor_ || (in_result_ && type.style == spec::Style::fd);
    JsonEmitter::scalar(bits, type);
  }
  void end_result() override {
    in_result_ = false;
    JsonEmitter::end_result();
  }

  [[nodiscard]] const render::CallResult& result() const { return result_; }
  [[nodiscard]] bool result_is_descriptor() const { return is_descriptor_; }

 private:
  render::CallResult result_;
  bool in_result_ = false;
  bool is_descriptor_ = false;
};

class ExportView final : public View {
 public:
  /// Makes the export of what it is given to write with.
  using Make = std::function<std::unique_ptr<exports::Exporter>(exports::Write)>;

  ExportView(const spec::Tables& tables, const decode::Decoder& decoder, names::ProcessNames& names, Channels channels,
             const Make& make, Abi native);

  void thread_appears(Thread& thread, const Moment& moment) override;
  void thread_goes(Thread& thread) override;
  void call_begins(Thread& thread, const trace::Memory& memory) override;
  void call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) override;
  void call_is_lost(Thread& thread, const Moment& moment) override;
  void call_is_dropped(Thread& thread) override;
  void call_is_unwound(Thread& thread, const Moment& moment) override;
  void signal(Thread& thread, const Moment& moment, const trace::SignalStop& stop,
              std::span<const trace::StackFrame> stack) override;
  void group_stop(Thread& thread, const Moment& moment, int signal, std::span<const trace::StackFrame> stack) override;
  void fork(Thread& thread, const Moment& moment, const trace::Fork& fork) override;
  void exec(Thread& thread, const Moment& moment) override;
  void superseded(Thread& leader, Thread& former, const Moment& moment, bool quietly) override;
  void exits(Thread& thread, const Moment& moment, int status) override;
  void detached(Thread& thread, const Moment& moment) override;
  void flush() override;
  void lost(std::uint64_t events) override { exporter_->lost(events); }
  void finish() override { exporter_->finish(); }

 private:
  /// A thread whose execve has succeeded and not ended.
  struct Executing {
    std::unique_ptr<exports::Thread> former;  ///< it called the execve; null: the thread itself did
    std::optional<exports::Exec> exec;        ///< what `executes` gets when the call ends
    std::string command;
  };

  void see(const Thread& thread, trace::EventTime time);
  void write_call(Thread& thread, exports::Call call);
  void close_unfinished(Thread& thread, exports::Call::End end, trace::EventTime time);
  void end_exec(const Thread& thread, const json_t* arguments);

  const decode::Decoder& decoder_;
  names::ProcessNames& names_;
  Channels channels_;
  std::unique_ptr<exports::Exporter> exporter_;
  exports::ProcessTable processes_;
  std::unordered_map<pid_t, Executing> executing_;
  TextBuffer record_;
  ExportEmitter emitter_;
  Abi native_;
  bool begun_ = false;
};

}  // namespace tracer::pipeline::views
