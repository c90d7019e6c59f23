// Finds out what of a task decoding an event with all details needs, and keeps it: reads of memory, and what was looked
// up of descriptors, processes and registers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text_buffer.h"
#include "decode/decoder.h"
#include "filter/trigger.h"
#include "names/names.h"
#include "names/open_files.h"
#include "names/pid_namespaces.h"
#include "names/proc_kernel_facts.h"
#include "pipeline/fd_finder.h"
#include "pipeline/view.h"
#include "replay/facts.h"
#include "trace/engine.h"

namespace tracer::replay {

/// Memory whose reads are kept. A second read of the same place shows what the first one did.
class KeptMemory final : public trace::Memory {
 public:
  KeptMemory(const trace::Memory& memory, Ranges& kept) : memory_(memory), kept_(kept) {}

  [[nodiscard]] std::size_t read(RemoteAddr address, std::span<std::byte> into) const override;
  void used(std::size_t size) const override { kept_.trim(size); }
  [[nodiscard]] const trace::TaskSnapshot* snapshot() const override { return memory_.snapshot(); }

 private:
  const trace::Memory& memory_;
  Ranges& kept_;
};

/// Registers whose reads are kept.
class KeptContext final : public trace::CallContext {
 public:
  KeptContext(const trace::CallContext& context, Facts& facts) : context_(context), facts_(facts) {}

  [[nodiscard]] std::optional<Value> vector(unsigned index) const override;
  [[nodiscard]] std::optional<Value> x87(unsigned index) const override;
  [[nodiscard]] std::optional<int> error_number() const override;

 private:
  std::optional<Value> keep(RegisterFact::Kind kind, unsigned index, std::optional<Value> value) const;

  const trace::CallContext& context_;
  Facts& facts_;
};

/// Looks everything up as -yy -Y do, and keeps it. Its answers are empty, as nobody shows them.
class KeptNames final : public names::DescriptorNames, public names::ProcessNames, public names::KernelFacts {
 public:
  using FunctionNamer = names::ProcKernelFacts::FunctionNamer;
  /// `functions` may be empty.
  KeptNames(Facts& facts, FunctionNamer functions);

  names::DescriptorName descriptor(const names::Task& task, std::int32_t fd) override;
  names::DescriptorName descriptor_behind(const names::Task& task, std::int32_t pidfd, std::int32_t fd) override;
  names::DescriptorName descriptor_of(const names::Task& task, std::int32_t pid, std::int32_t fd) override;
  std::string_view path(const names::Task& task, std::int32_t fd) override;
  std::string_view current_directory(const names::Task& task) override;
  std::int32_t netlink_protocol(const names::Task& task, std::int32_t fd) override;
  std::string_view drivers(const names::Task& task, std::int32_t fd) override;

  std::string_view process(const names::Task& task, std::int32_t pid) override;
  std::string_view command(const names::Task& task) override;
  std::int32_t process_here(const names::Task& task, std::int32_t pid, bool group) override;

  std::string_view function(const names::Task& task, RemoteAddr address) override;
  std::string_view interface(std::uint32_t index) override;
  std::string_view generic_family(std::uint16_t number) override;

  [[nodiscard]] names::Names names() { return {*this, *this, *this}; }

 private:
  void keep(FileFact::Owner owner, std::int32_t pid, std::int32_t fd, std::optional<trace::OpenFile> file);
  std::string_view keep(NameFact::Kind kind, std::uint64_t number, std::string_view name);
  trace::TaskSnapshot::Process& process_fact(std::int32_t pid);

  Facts& facts_;
  names::OpenFiles files_;
  names::PidNamespaces pids_;
  names::ProcKernelFacts kernel_;
};

/// Decodes what the pipeline lets through, and drops it: the decoder's questions are all that matters.
class CaptureView final : public pipeline::View {
 public:
  /// All outlive the view.
  CaptureView(const decode::Decoder& decoder, KeptNames& names, Abi native, std::vector<filter::Trigger> triggers)
      : decoder_(decoder),
        names_(names),
        native_(native),
        triggers_(std::move(triggers)),
        shown_in_part_(decoder.make_state()) {}

  /// Whether the pipeline has let the start of a call through, since the last question.
  [[nodiscard]] bool take_begun() { return std::exchange(begun_, false); }
  /// The same for the end of a call.
  [[nodiscard]] bool take_ended() { return std::exchange(ended_, false); }

  /// Whether one of the triggers' conditions was true, since the last question.
  [[nodiscard]] bool take_triggered() { return std::exchange(triggered_, false); }

  void thread_appears(pipeline::Thread& thread, const pipeline::Moment& moment) override;
  void call_begins(pipeline::Thread& thread, const trace::Memory& memory) override;
  void call_ends(pipeline::Thread& thread, const pipeline::CallEnd& end, const trace::Memory& memory) override;
  void call_is_lost(pipeline::Thread& /*thread*/, const pipeline::Moment& /*moment*/) override { ended_ = true; }
  void signal(pipeline::Thread& thread, const pipeline::Moment& moment, const trace::SignalStop& stop,
              std::span<const trace::StackFrame> stack) override;
  void probe(pipeline::Thread& thread, const pipeline::Moment& moment, const trace::ProbeHit& hit,
             std::span<const trace::StackFrame> stack) override;
  void exec(pipeline::Thread& thread, const pipeline::Moment& moment) override;
  void exits(pipeline::Thread& thread, const pipeline::Moment& moment, int status) override;

 private:
  /// A number that triggers of that kind are about.
  void check(filter::Trigger::Kind kind, int number);
  void check_call(const pipeline::Thread& thread, const pipeline::CallEnd& end);

  struct Ignore {
    void operator()(std::int32_t /*fd*/) const {}
  };

  const decode::Decoder& decoder_;
  KeptNames& names_;
  Abi native_;
  std::vector<filter::Trigger> triggers_;
  bool triggered_ = false;
  pipeline::FdFinder<Ignore> nothing_{Ignore{}};
  pipeline::FdFinder<Ignore> nothing_unfinished_{Ignore{}, true};
  std::unique_ptr<decode::CallState, void (*)(decode::CallState*)> shown_in_part_;
  TextBuffer probe_text_;  ///< not shown either
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace tracer::replay
