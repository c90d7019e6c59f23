// The memory of a call as the recorder copied it.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "trace/memory.h"
#include "trace/task_snapshot.h"

namespace tracer::inprocess {

/// Reads from areas of chunks (Chunk and its bytes, one after the other), which have to outlive it and may be the
/// tracee's to write; from the second what the first does not have. What is in no chunk cannot be read.
class RecordedMemory final : public trace::Memory, private trace::TaskSnapshot {
 public:
  using Area = std::span<const std::byte>;
  /// `tid`: the thread whose call it is.
  RecordedMemory(std::int32_t tid, Area area, Area more = {}) : tid_(tid), areas_{area, more} {}

  [[nodiscard]] std::size_t read(RemoteAddr address, std::span<std::byte> into) const override;
  [[nodiscard]] const trace::TaskSnapshot* snapshot() const override { return this; }

 private:
  [[nodiscard]] std::optional<trace::OpenFile> descriptor(std::int32_t fd) const override;
  [[nodiscard]] std::optional<trace::OpenFile> descriptor_behind(std::int32_t) const override { return std::nullopt; }
  [[nodiscard]] std::optional<trace::OpenFile> working_directory() const override;
  [[nodiscard]] std::int32_t netlink_protocol(std::int32_t fd) const override;
  [[nodiscard]] std::optional<trace::FileKind> file_kind(std::int32_t fd) const override;
  [[nodiscard]] std::optional<Process> process(std::int32_t) const override { return std::nullopt; }
  [[nodiscard]] std::optional<std::string> command(std::int32_t tid) const override;
  [[nodiscard]] const trace::TaskState& state() const override;

  std::int32_t tid_;
  std::array<Area, 2> areas_;
};

}  // namespace tracer::inprocess
