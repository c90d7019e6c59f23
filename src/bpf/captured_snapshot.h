// The state of a task at an event, as the BPF programs captured it.
#pragma once

#include <linux/types.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>

#include "trace/task_snapshot.h"

namespace tracer::bpf {

/// Names of the programs of threads, by the tracer's numbers.
using KnownCommands = std::unordered_map<std::int32_t, std::string>;

/// One of those, from the TASK_COMM_LEN bytes in which the programs hand it over.
[[nodiscard]] std::string command_of(const __u64* words);

/// Looks at areas of chunks as CapturedMemory does: at the second for what the first does not have.
class CapturedSnapshot final : public trace::TaskSnapshot {
 public:
  using Area = std::span<const std::byte>;
  /// `commands`: those of the traced threads; null: none are known. `state`: null if it was not captured. All of these
  /// outlive the snapshot.
  CapturedSnapshot(Area area, Area more, const KnownCommands* commands, const trace::TaskState* state = nullptr)
      : areas_{area, more}, commands_(commands), state_(state) {}

  [[nodiscard]] std::optional<trace::OpenFile> descriptor(std::int32_t fd) const override;
  [[nodiscard]] std::optional<trace::OpenFile> descriptor_behind(std::int32_t fd) const override;
  [[nodiscard]] std::optional<trace::OpenFile> working_directory() const override;
  [[nodiscard]] std::int32_t netlink_protocol(std::int32_t fd) const override;
  [[nodiscard]] std::optional<trace::FileKind> file_kind(std::int32_t fd) const override;
  [[nodiscard]] std::optional<Process> process(std::int32_t id) const override;
  [[nodiscard]] std::optional<std::string> command(std::int32_t tid) const override;
  [[nodiscard]] const trace::TaskState& state() const override;

 private:
  /// What is at such an address of a chunk_descriptor.
  [[nodiscard]] std::optional<trace::OpenFile> named(std::uint64_t number) const;

  std::array<Area, 2> areas_;
  const KnownCommands* commands_;
  const trace::TaskState* state_;
};

}  // namespace tracer::bpf
