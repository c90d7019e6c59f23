// What descriptors, process ids and addresses stand for, as text: from what an engine has captured of the time of the
// event, or else from /proc of the machine that runs the tracees (-y, -yy, -Y and their like).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/text_buffer.h"
#include "decode/decoder.h"
#include "names/generic_families.h"
#include "names/name_options.h"
#include "names/open_files.h"
#include "names/pid_namespaces.h"
#include "names/ring_entries.h"
#include "names/security_contexts.h"

namespace tracer::names {

class DescriptorNames final : public decode::Names {
 public:
  explicit DescriptorNames(NameOptions options, SecurityContexts contexts = {{}, nullptr})
      : options_(options), contexts_(std::move(contexts)), files_(options) {}

  /// Who knows the functions of threads; without one they have no names.
  using FunctionNamer = std::function<std::string(std::int32_t tid, std::uint64_t address)>;
  void set_functions(FunctionNamer functions) { functions_ = std::move(functions); }

  decode::DescriptorName descriptor(std::int32_t tid, std::int32_t fd) override;
  decode::DescriptorName descriptor_behind(std::int32_t tid, std::int32_t pidfd, std::int32_t fd) override;
  decode::DescriptorName descriptor_of(std::int32_t tid, std::int32_t pid, std::int32_t fd) override;
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
  [[nodiscard]] std::optional<trace::OpenFile> open_file(std::int32_t tid, std::int32_t fd);
  decode::DescriptorName name_of(const std::optional<trace::OpenFile>& file);
  bool append_detail(const trace::OpenFile& file);

  NameOptions options_;
  SecurityContexts contexts_;
  FunctionNamer functions_;
  OpenFiles files_;
  GenericFamilies families_;
  PidNamespaces pids_;
  RingEntries rings_;
  TextBuffer text_;  ///< what the last answer stands in
};

}  // namespace tracer::names
