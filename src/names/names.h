// The questions that decoder and views have about a task: what its descriptors and process ids stand for, and what the
// kernel knows beside them. The defaults know nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/remote_addr.h"
#include "spec/spec.h"
#include "trace/memory.h"

namespace tracer::names {

/// The thread that a question is about, at a certain event.
struct Task {
  std::int32_t tid = 0;
  /// Its state at the event, if it has run on since; null: it is stopped, and /proc shows its state.
  const trace::TaskSnapshot* snapshot = nullptr;
};

/// `</tmp/x>(deleted)`
struct DescriptorName {
  std::string_view text;  ///< the text between the angle brackets, escaped; empty: none
  bool deleted = false;
  operator std::string_view() const { return text; }  // NOLINT(google-explicit-constructor)
};

// Texts that these classes return stay valid until the next question.

/// What a descriptor stands for (-y, -yy).
class DescriptorNames {
 public:
  DescriptorNames() = default;
  DescriptorNames(const DescriptorNames&) = delete;
  DescriptorNames& operator=(const DescriptorNames&) = delete;
  virtual ~DescriptorNames() = default;

  /// Whether descriptor() may ever name one.
  [[nodiscard]] virtual bool names_descriptors() const { return true; }
  /// Returns the name of a descriptor of `task`.
  virtual DescriptorName descriptor(const Task& /*task*/, std::int32_t /*fd*/) { return {}; }
  /// Returns the name of a descriptor of the process that the descriptor `pidfd` of `task` refers to.
  virtual DescriptorName descriptor_behind(const Task& /*task*/, std::int32_t /*pidfd*/, std::int32_t /*fd*/) {
    return {};
  }
  /// Returns the name of a descriptor of the process that has the id `pid` in the PID namespace of `task`.
  virtual DescriptorName descriptor_of(const Task& /*task*/, std::int32_t /*pid*/, std::int32_t /*fd*/) { return {}; }
  /// Returns the unescaped path of a descriptor, whatever the user wants to see; for -P.
  virtual std::string_view path(const Task& /*task*/, std::int32_t /*fd*/) { return {}; }
  /// Returns the path of the current directory, for AT_FDCWD under -y.
  virtual std::string_view current_directory(const Task& /*task*/) { return {}; }
  /// Returns the protocol (NETLINK_ROUTE, …) of a descriptor that is a netlink socket, 255 if that is unknown, and -1
  /// for any other descriptor.
  virtual std::int32_t netlink_protocol(const Task& /*task*/, std::int32_t /*fd*/) { return -1; }
  /// Returns what the driver behind a descriptor, which its ioctls belong to, is known as: words with blanks between
  /// them, the closest first (`i915 drm`, `btrfs file`); empty if it is unknown.
  virtual std::string_view drivers(const Task& /*task*/, std::int32_t /*fd*/) { return {}; }
};

/// What a process id stands for (-Y, --decode-pids, --namespace).
class ProcessNames {
 public:
  ProcessNames() = default;
  ProcessNames(const ProcessNames&) = delete;
  ProcessNames& operator=(const ProcessNames&) = delete;
  virtual ~ProcessNames() = default;

  /// Returns the escaped command name of the process that has the id `pid` in the PID namespace of `task`.
  virtual std::string_view process(const Task& /*task*/, std::int32_t /*pid*/) { return {}; }
  /// Returns the escaped command name of the task itself.
  virtual std::string_view command(const Task& task) { return process(task, task.tid); }
  /// Returns the id in the tracer's PID namespace of a process, or with `group` of a process group, that has the id
  /// `pid` in that of `task`; 0 if the ids are equal, the id is unknown or it is not wanted.
  virtual std::int32_t process_here(const Task& /*task*/, std::int32_t /*pid*/, bool /*group*/) { return 0; }
  /// Returns the text of a link in /proc/PID/ns, such as `uts:[4026531838]`, for the process that has the id `pid` in
  /// the PID namespace of `task`, or with 0 for `task`; empty if it is unknown or not wanted.
  virtual std::string_view name_space(const Task& /*task*/, std::int32_t /*pid*/, std::string_view /*link*/) {
    return {};
  }
};

/// What the kernel, or the machine that runs the tracees, knows beside descriptors and processes.
class KernelFacts {
 public:
  KernelFacts() = default;
  KernelFacts(const KernelFacts&) = delete;
  KernelFacts& operator=(const KernelFacts&) = delete;
  virtual ~KernelFacts() = default;

  /// Returns the escaped name of the function whose code starts at an address.
  virtual std::string_view function(const Task& /*task*/, RemoteAddr /*address*/) { return {}; }
  /// Returns the unescaped name of a network interface.
  virtual std::string_view interface(std::uint32_t /*index*/) { return {}; }
  /// Returns the name of a generic netlink family.
  virtual std::string_view generic_family(std::uint16_t /*number*/) { return {}; }
  /// Returns where the tracee has mapped the struct kvm_run of the virtual CPU behind a descriptor; 0 if it has not, or
  /// if that is not wanted.
  virtual RemoteAddr vcpu_area(const Task& /*task*/, std::int32_t /*fd*/) { return {}; }
  /// Returns the addresses of the first submission queue entries of the io_uring behind a descriptor, at most `most`;
  /// nothing if they are unknown.
  virtual std::optional<std::span<const RemoteAddr>> ring_entries(const Task& /*task*/, std::int32_t /*fd*/,
                                                                  std::uint64_t /*most*/) {
    return std::nullopt;
  }
  // These return SELinux contexts, escaped; empty if there are none or they are not wanted. `pid` is an id in the PID
  // namespace of `task`, and 0 stands for `task`; a path starts at the descriptor `directory`, or AT_FDCWD.
  [[nodiscard]] virtual bool has_contexts() const { return true; }  ///< may ever return one
  virtual std::string_view descriptor_context(const Task& /*task*/, std::int32_t /*fd*/) { return {}; }
  virtual std::string_view process_context(const Task& /*task*/, std::int32_t /*pid*/) { return {}; }
  virtual std::string_view path_context(const Task& /*task*/, std::int32_t /*directory*/, std::string_view /*path*/) {
    return {};
  }
};

/// All three, for those who ask about everything.
struct Names {
  DescriptorNames& descriptors;
  ProcessNames& processes;
  KernelFacts& kernel;
};

}  // namespace tracer::names
