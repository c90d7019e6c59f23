// What descriptors and process ids stand for, from /proc of the machine that runs the tracees (-y, -yy, -Y).
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/text_buffer.h"
#include "decode/decoder.h"
#include "decode/generic_families.h"
#include "decode/pid_namespaces.h"
#include "decode/ring_entries.h"
#include "decode/security_contexts.h"
#include "decode/socket_names.h"

namespace tracer::decode {

/// --decode-fds and --decode-pids.
struct NameOptions {
  bool paths = false;       ///< path: what the descriptor's link in /proc says
  bool sockets = false;     ///< socket: protocol and addresses
  bool devices = false;     ///< dev: `<char 1:3>`
  bool pidfds = false;      ///< pidfd: `pid:17391`
  bool eventfds = false;    ///< eventfd: count and id
  bool signalfds = false;   ///< signalfd: the mask
  bool commands = false;    ///< --decode-pids=comm, -Y
  bool pids_here = false;   ///< --decode-pids=pidns, --pidns-translation
  bool vcpus = false;       ///< --kvm
  bool namespaces = false;  ///< --namespace

  [[nodiscard]] bool any_descriptors() const { return paths || sockets || devices || pidfds || eventfds || signalfds; }
};

class DescriptorNames final : public Names {
 public:
  explicit DescriptorNames(NameOptions options, SecurityContexts contexts = {{}, nullptr})
      : options_(options), contexts_(std::move(contexts)) {}

  /// Who knows the functions of threads; without one they have no names.
  using FunctionNamer = std::function<std::string(std::int32_t tid, std::uint64_t address)>;
  void set_functions(FunctionNamer functions) { functions_ = std::move(functions); }

  void look_back(const Capture* capture) override { capture_ = capture; }
  DescriptorName descriptor(std::int32_t tid, std::int32_t fd) override;
  DescriptorName descriptor_behind(std::int32_t tid, std::int32_t pidfd, std::int32_t fd) override;
  std::string_view path(std::int32_t tid, std::int32_t fd) override;
  std::string_view process(std::int32_t tid, std::int32_t pid) override;
  std::string_view command(std::int32_t tid) override;
  std::int32_t process_here(std::int32_t tid, std::int32_t pid, bool group) override;
  std::string_view function(std::int32_t tid, RemoteAddr address) override;
  std::string_view interface(std::uint32_t index) override;
  std::int32_t netlink_protocol(std::int32_t tid, std::int32_t fd) override;
  std::string_view generic_family(std::uint16_t number) override { return families_.name(number); }
  std::string_view current_directory(std::int32_t tid) override;
  RemoteAddr vcpu_area(std::int32_t tid, std::int32_t fd) override;
  std::optional<std::span<const RemoteAddr>> ring_entries(std::int32_t tid, std::int32_t fd,
                                                          std::uint64_t most) override {
    return rings_.waiting(tid, fd, most);
  }
  std::string_view name_space(std::int32_t tid, std::int32_t pid, std::string_view link) override;
  std::string_view descriptor_context(std::int32_t tid, std::int32_t fd) override;
  std::string_view process_context(std::int32_t tid, std::int32_t pid) override;
  std::string_view path_context(std::int32_t tid, std::int32_t directory, std::string_view path) override;

 private:
  bool detail(std::int32_t tid, std::int32_t fd, std::string_view target);
  DescriptorName describe(const OpenFile& file);
  bool detail(const OpenFile& file);
  std::string_view information(std::int32_t tid, std::int32_t fd);
  PidfdProcess pidfd(std::int32_t tid, std::int32_t fd);
  bool signalfd(std::int32_t tid, std::int32_t fd);

  NameOptions options_;
  SecurityContexts contexts_;
  FunctionNamer functions_;
  SocketNames sockets_;
  GenericFamilies families_;
  PidNamespaces pids_;
  RingEntries rings_;
  std::array<char, 1024> information_{};  ///< the start of a file in /proc/PID/fdinfo
  const Capture* capture_ = nullptr;      ///< what look_back() was told
  std::optional<EventCounter> fdinfo_;    ///< which facts the kernel tells; empty: not looked yet
  TextBuffer text_;                       ///< what the last answer stands in
};

}  // namespace tracer::decode
