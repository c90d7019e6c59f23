// What process ids stand for, by a snapshot or else by /proc.
#pragma once

#include "base/text_buffer.h"
#include "names/name_options.h"
#include "names/names.h"
#include "names/pid_namespaces.h"

namespace tracer::names {

class ProcProcessNames final : public ProcessNames {
 public:
  /// `pids` outlives this.
  ProcProcessNames(const NameOptions& options, PidNamespaces& pids) : options_(options), pids_(pids) {}

  std::string_view process(const Task& task, std::int32_t pid) override;
  std::string_view command(const Task& task) override;
  std::int32_t process_here(const Task& task, std::int32_t pid, bool group) override;
  std::string_view name_space(const Task& task, std::int32_t pid, std::string_view link) override;

 private:
  NameOptions options_;
  PidNamespaces& pids_;
  TextBuffer text_;  ///< the last answer
};

}  // namespace tracer::names
