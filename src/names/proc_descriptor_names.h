// What descriptors stand for, by a snapshot or else by /proc.
#pragma once

#include <optional>

#include "base/text_buffer.h"
#include "names/name_options.h"
#include "names/names.h"
#include "names/open_files.h"
#include "names/pid_namespaces.h"

namespace tracer::names {

class ProcDescriptorNames final : public DescriptorNames {
 public:
  /// `pids` outlives this.
  ProcDescriptorNames(const NameOptions& options, PidNamespaces& pids)
      : options_(options), files_(options), pids_(pids) {}

  [[nodiscard]] bool names_descriptors() const override { return options_.any_descriptors(); }
  DescriptorName descriptor(const Task& task, std::int32_t fd) override;
  DescriptorName descriptor_behind(const Task& task, std::int32_t pidfd, std::int32_t fd) override;
  DescriptorName descriptor_of(const Task& task, std::int32_t pid, std::int32_t fd) override;
  std::string_view path(const Task& task, std::int32_t fd) override;
  std::string_view current_directory(const Task& task) override;
  std::int32_t netlink_protocol(const Task& task, std::int32_t fd) override;
  std::string_view drivers(const Task& task, std::int32_t fd) override;

 private:
  [[nodiscard]] std::optional<trace::OpenFile> open_file(const Task& task, std::int32_t fd);
  DescriptorName name_of(const std::optional<trace::OpenFile>& file);
  bool append_detail(const trace::OpenFile& file);

  NameOptions options_;
  OpenFiles files_;
  PidNamespaces& pids_;
  TextBuffer text_;  ///< the last answer
};

}  // namespace tracer::names
