// A pipeline with everything around it faked: events come from the test, lines end up in strings.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "pipeline/pipeline.h"
#include "pipeline/views/folding_text.h"
#include "pipeline/views/json.h"
#include "pipeline/views/text.h"
#include "sysc/compile.h"

namespace tracer::test {

class StringSink final : public pipeline::sink::Sink {
 public:
  StringSink(std::string& written, std::string& flushed) : written_(written), flushed_(flushed) {}
  void write(std::string_view bytes) override { written_ += bytes; }
  void flush() override { flushed_ = written_; }

 private:
  std::string& written_;
  std::string& flushed_;
};

class FakeMemory final : public trace::Memory {
 public:
  void put(std::uint64_t address, std::string_view bytes) { chunks_[address] = bytes; }
  std::size_t read(RemoteAddr address, std::span<std::byte> into) const override {
    for (const auto& [start, bytes] : chunks_) {
      if (address.value() >= start && address.value() - start < bytes.size()) {
        const auto there = std::string_view(bytes).substr(address.value() - start, into.size());
        for (std::size_t i = 0; i < there.size(); ++i) {
          into[i] = static_cast<std::byte>(there[i]);
        }
        return there.size();
      }
    }
    return 0;
  }
  const trace::TaskSnapshot* snapshot() const override { return then; }

  const trace::TaskSnapshot* then = nullptr;

 private:
  std::map<std::uint64_t, std::string> chunks_;
};

class FakeDescriptors final : public names::DescriptorNames {
 public:
  names::DescriptorName descriptor(const names::Task& task, std::int32_t fd) override {
    asked = task;
    return fd == 7 ? names::DescriptorName{"/etc/passwd"} : names::DescriptorName{};
  }
  std::string_view path(const names::Task& task, std::int32_t fd) override { return descriptor(task, fd).text; }

  names::Task asked;  ///< the last question's
};

class FakeProcesses final : public names::ProcessNames {
 public:
  std::string_view process(const names::Task& task, std::int32_t) override {
    asked = task;
    return "prog";
  }

  names::Task asked;  ///< the last question's
};

/// Calls for tests; the number is the index.
enum Call : std::uint64_t {
  getpid,
  close_fd,
  wait_for,
  read_fd,
  open_path,
  execve,
  exit_group,
  one_arg,
  write_fd,
  write_many,
  long_name,
  socketcall,
  ipc,
  resize
};

inline spec::TableSet test_tables() {
  const std::string description =
      "type fd = i32 as fd\n"
      "type path = *cstr as path\n"
      "type size = ulong\n"
      "getpid() -> i32\n"
      "sched_get_priority_max() -> i32\n"
      "close(fd: fd) -> i32\n"
      "wait(pid: i32, status: out *i32) -> i32\n"
      "read(fd: fd, buf: out *bytes[ret], count: size) -> size\n"
      "open(path: path) -> fd\n"
      "execve(path: path) -> i32\n"
      "exit_group(code: i32) -> never\n"
      "result(into: out *i32) -> i32\n"
      "write(fd: fd, buf: ulong as address, count: size) -> size\n"
      "writev(fd: fd, iov: ulong as address, count: size) -> size\n"
      "accept(fd: fd) -> fd %network\n"
      "listen(fd: fd, backlog: i32) %network\n"
      "socketcall(call: i32, args: *ulong[6]) redirect args by call { 4: listen 5: accept } %desc\n"
      "ipc(op: u32) %ipc by op { 1 \"semop\" (semid: i32 at 1) else (call: u32 at 0) }\n"
      "resize(size: inout *i32) -> i32\n";
  const std::string numbers =
      "0 getpid\n1 close\n2 wait\n3 read\n4 open\n5 execve\n6 exit_group\n7 result\n8 write\n9 writev\n10 "
      "sched_get_priority_max\n11 socketcall\n12 ipc\n13 resize\n";
  std::vector<sysc::Source> sources{{"test.sys", description}};
  for (const auto abi : abi_names) {
    sources.push_back({std::string(abi) + ".nr", numbers});
  }
  sysc::Diagnostics diagnostics;
  auto set = sysc::compile(sources, diagnostics);
  if (diagnostics.has_errors()) {
    throw std::runtime_error(diagnostics.text(sources));
  }
  return set;
}

struct StageOptions {
  pipeline::PipelineOptions pipeline;
  pipeline::views::TextViewOptions text;
  render::SummaryOptions summary;
  bool separate = false;
  bool json = false;
  bool fold = false;
};

class Stage {
 public:
  explicit Stage(StageOptions options = {})
      : tables_(set_.view()),
        decoder_(tables_, {}, names_, {}),
        summary_(tables_, options.summary),
        filter_needs_end_(options.pipeline.filter.end.any()) {
    options.text.hold_calls = filter_needs_end_;
    auto channels = options.separate ? pipeline::Channels([this](pid_t tid) -> std::unique_ptr<pipeline::sink::Sink> {
      return std::make_unique<StringSink>(files[tid], flushed);
    })
                                     : pipeline::Channels(std::make_unique<test::StringSink>(written, flushed));
    if (options.json) {
      view_ = std::make_unique<pipeline::views::JsonView>(tables_, decoder_, processes, std::move(channels),
                                                          pipeline::views::JsonViewOptions{});
    } else if (options.fold) {
      view_ = std::make_unique<pipeline::views::FoldingTextView>(options.text, false, tables_, decoder_, names_,
                                                                 std::move(channels));
    } else {
      view_ = std::make_unique<pipeline::views::TextView>(options.text, tables_, decoder_, names_, std::move(channels));
    }
    pipeline_ =
        std::make_unique<pipeline::Pipeline>(options.pipeline, tables_, decoder_, descriptors, *view_, &summary_,
                                             [this](std::string_view note) { notes += std::string(note) + '\n'; });
  }

  template <typename What>
  trace::Verdict happens(pid_t tid, What what, Abi abi = Abi::x86_64) {
    trace::Event event;
    event.tid = tid;
    event.tgid = tgid != 0 ? tgid : tid;
    event.abi = abi;
    now_ += std::chrono::milliseconds(1);
    event.time.realtime = std::chrono::hours(12) + now_;
    event.time.monotonic = now_;
    event.what = what;
    return pipeline_->handle(event, memory);
  }
  trace::Verdict enter(pid_t tid, std::uint64_t number, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0,
                       Abi abi = Abi::x86_64) {
    trace::SyscallEnter enter;
    enter.number = number;
    enter.args = {a, b, c, 0, 0, 0};
    enter.instruction_pointer = 0x401000;
    return happens(tid, enter, abi);
  }
  trace::Verdict exit(pid_t tid, std::int64_t value = 0, Abi abi = Abi::x86_64) {
    trace::SyscallExit exit;
    exit.value = value;
    exit.is_error = value < 0;
    exit.instruction_pointer = 0x401000;
    exit.cpu_time = std::chrono::microseconds(3);
    return happens(tid, exit, abi);
  }
  trace::Verdict call(pid_t tid, std::uint64_t number, std::uint64_t a = 0, std::int64_t value = 0) {
    const trace::Verdict verdict = enter(tid, number, a);
    return verdict == trace::Verdict::go_on ? exit(tid, value) : verdict;
  }
  /// What is to be done to a call that begins.
  const trace::Tampering* tamper(pid_t tid, std::uint64_t number, std::uint64_t a, std::uint64_t b, Abi abi) {
    trace::Event event;
    event.tid = event.tgid = tid;
    event.abi = abi;
    trace::SyscallEnter enter;
    enter.number = number;
    enter.args = {a, b, 0, 0, 0, 0};
    event.what = enter;
    return pipeline_->tamper(event, memory);
  }
  void idle() { pipeline_->idle(); }
  void lose(std::uint64_t events) { pipeline_->lost(events); }
  void wait(std::chrono::nanoseconds time) { now_ += time; }

  /// What is out after everything was flushed.
  std::string text() {
    view_->flush();
    return written;
  }
  std::string table() {
    base::TextBuffer table;
    summary_.write(table, Abi::x86_64);
    return std::string(table.view());
  }

  std::string written;
  std::string flushed;
  std::map<pid_t, std::string> files;
  std::string notes;
  FakeMemory memory;
  FakeDescriptors descriptors;
  FakeProcesses processes;
  pid_t tgid = 0;  ///< of the events; 0: the thread's own id

 private:
  spec::TableSet set_ = test_tables();
  spec::Tables tables_;
  names::KernelFacts kernel_;
  names::Names names_{descriptors, processes, kernel_};
  decode::Decoder decoder_;
  render::Summary summary_;
  bool filter_needs_end_;
  std::unique_ptr<pipeline::View> view_;
  std::unique_ptr<pipeline::Pipeline> pipeline_;
  std::chrono::nanoseconds now_{};
};

}  // namespace tracer::test
