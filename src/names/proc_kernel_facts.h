// What the kernel of this machine knows of interfaces, netlink families, io_uring, KVM and SELinux.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "base/text_buffer.h"
#include "names/generic_families.h"
#include "names/name_options.h"
#include "names/names.h"
#include "names/pid_namespaces.h"
#include "names/ring_entries.h"
#include "names/security_contexts.h"

namespace tracer::names {

class ProcKernelFacts final : public KernelFacts {
 public:
  /// `pids` outlives this.
  ProcKernelFacts(const NameOptions& options, SecurityContexts contexts, PidNamespaces& pids)
      : options_(options), contexts_(std::move(contexts)), pids_(pids) {}

  /// Finds the names of functions; without one they have no names.
  using FunctionNamer = std::function<std::string(std::int32_t tid, std::uint64_t address)>;
  void set_functions(FunctionNamer functions) { functions_ = std::move(functions); }

  std::string_view function(const Task& task, RemoteAddr address) override;
  std::string_view interface(std::uint32_t index) override;
  std::string_view generic_family(std::uint16_t number) override { return families_.name(number); }
  RemoteAddr vcpu_area(const Task& task, std::int32_t fd) override;
  std::optional<std::span<const RemoteAddr>> ring_entries(const Task& task, std::int32_t fd,
                                                          std::uint64_t most) override {
    return rings_.waiting(task.tid, fd, most);
  }
  [[nodiscard]] bool has_contexts() const override { return contexts_.shown(); }
  std::string_view descriptor_context(const Task& task, std::int32_t fd) override;
  std::string_view process_context(const Task& task, std::int32_t pid) override;
  std::string_view path_context(const Task& task, std::int32_t directory, std::string_view path) override;

 private:
  NameOptions options_;
  SecurityContexts contexts_;
  FunctionNamer functions_;
  GenericFamilies families_;
  RingEntries rings_;
  PidNamespaces& pids_;
  TextBuffer text_;  ///< the last answer
};

}  // namespace tracer::names
