// --format=perfetto: the protocol buffers of https://perfetto.dev (protos/perfetto/trace/trace_packet.proto).
#pragma once

#include <unordered_map>

#include "pipeline/exports/exporter.h"
#include "pipeline/exports/open_descriptors.h"
#include "pipeline/exports/protobuf.h"

namespace tracer::pipeline::exports {

/// Strings that stand in the trace once and have a number from then on.
class Interned {
 public:
  /// A string that is not among so many gets no number, so that a hostile program does not fill the memory.
  static constexpr std::size_t most = 65'536;

  /// Returns the number of a string; 0: it has none. `added`: the number is new.
  std::uint64_t number_of(std::string_view text, bool& added);

 private:
  std::unordered_map<std::string, std::uint64_t> numbers_;
};

/// Each process and thread is a track, each call a slice with its arguments as debug annotations; counters show the
/// descriptors and bytes of each process. Timestamps are nanoseconds since the first event.
class Perfetto final : public Exporter {
 public:
  explicit Perfetto(Write write) : write_(std::move(write)) {}

  void begins(const trace::EventTime& first) override;
  void process_appears(const Process& process) override;
  void thread_appears(const Thread& thread) override;
  void forks(const Thread& thread, pid_t child, bool is_thread, Time time) override;
  void executes(const Thread& thread) override;
  void call(const Call& call) override;
  void signal(const Signal& signal) override;
  void thread_goes(const Thread& thread) override;
  void process_goes(const Process& process) override;
  void lost(std::uint64_t events) override;
  void finish() override;

 private:
  enum class Counter : std::uint8_t { descriptors, received, sent };
  enum class Phase : std::uint8_t { begin = 1, end = 2, instant = 3, counter = 4 };  // TrackEvent.Type

  struct Bytes {
    std::int64_t received = 0;
    std::int64_t sent = 0;
  };

  [[nodiscard]] std::uint64_t track(const Process& process) const;
  [[nodiscard]] std::uint64_t track(const Thread& thread) const;
  [[nodiscard]] std::uint64_t track(const Process& process, Counter counter) const;

  void describe(const Process& process);
  void describe(const Thread& thread);
  void describe(const Process& process, Counter counter);
  [[nodiscard]] Message event(Phase phase, std::uint64_t track);
  void name(Message& event, std::string_view name);
  void categorize(Message& event, std::string_view category);
  void annotate(Message& event, std::string_view name, const json_t* value);
  void annotate(Message& event, std::string_view name, std::string_view value);
  void set_annotation_name(Message& annotation, std::string_view name);
  static void set_value(Message& annotation, const json_t* value, unsigned depth);
  void instant(const Thread& thread, Time time, std::string_view name, std::string_view category);
  void write_event(const Message& event, Time time);
  void write_packet(Message& packet);
  void count(const Process& process, Counter counter, std::int64_t value, Time time);
  void count_bytes(const Call& call, Time time);
  void end_open(const Thread& thread);

  Write write_;
  Time start_{};
  Time last_{};             ///< of the last event
  std::uint64_t seed_ = 0;  ///< of the numbers of tracks
  bool first_ = true;
  Interned names_;
  Interned categories_;
  Interned annotation_names_;
  Message interned_;  ///< InternedData of the packet to come
  OpenDescriptors descriptors_;
  std::unordered_map<std::uint64_t, Bytes> bytes_;      ///< by the id of the process
  std::unordered_map<pid_t, std::uint64_t> born_;       ///< flows of forks whose children have not appeared
  std::unordered_map<std::uint64_t, Time> unfinished_;  ///< calls that did not return, by the id of the thread
  std::uint64_t last_flow_ = 0;
};

}  // namespace tracer::pipeline::exports
