#include "bpf/captured_state.h"

#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "bpf/captured_path.h"
#include "bpf/task_state.h"
#include "bpf/tracing.h"
#include "capture/chunks.h"

namespace tracer::bpf {
namespace {

/// A dev_t of the kernel's own.
std::uint64_t device_of(std::uint32_t device) {
  constexpr unsigned minor_bits = 20;
  return ::makedev(device >> minor_bits, device & ((1U << minor_bits) - 1));
}

/// Sets credentials and limits. Leaves both out if not all supplementary groups were captured: access checks would come
/// out wrong.
void read_process(const process_facts& facts, trace::TaskState& state) {
  if (facts.more_groups > most_groups) {
    return;
  }
  trace::TaskState::Credentials credentials;
  std::copy(std::begin(facts.users), std::end(facts.users), credentials.users.begin());
  std::copy(std::begin(facts.groups), std::end(facts.groups), credentials.groups.begin());
  credentials.supplementary_groups.assign(facts.more_group, facts.more_group + facts.more_groups);
  credentials.capabilities = facts.capabilities;
  credentials.seccomp_mode = facts.seccomp_mode;
  credentials.seccomp_filters = facts.seccomp_filters;
  state.credentials = std::move(credentials);
  state.limits.assign(std::begin(facts.limits), std::end(facts.limits));
}

std::string protection_of(std::uint64_t flags) {
  constexpr std::uint64_t readable = 1;
  constexpr std::uint64_t writable = 2;
  constexpr std::uint64_t executable = 4;
  constexpr std::uint64_t is_shared = 8;
  return {(flags & readable) != 0 ? 'r' : '-', (flags & writable) != 0 ? 'w' : '-',
          (flags & executable) != 0 ? 'x' : '-', (flags & is_shared) != 0 ? 's' : 'p'};
}

proc::MappedRange range_of(const captured_mapping& mapping) {
  proc::MappedRange range;
  range.start = mapping.start;
  range.end = mapping.end;
  range.file_offset = mapping.page * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  range.device = mapping.inode == 0 ? 0 : device_of(mapping.device);
  range.inode = mapping.inode;
  range.protection = protection_of(mapping.flags);
  if (mapping.inode == 0) {
    range.path = mapping.is_stack != 0 ? "[stack]" : "";
    return range;
  }
  CapturedPath path;
  std::string_view names(reinterpret_cast<const char*>(mapping.path),
                         std::min<std::size_t>(mapping.path_used, mapping_path_size));
  while (!names.empty()) {
    const std::size_t length = std::min(names.find('\0'), names.size());
    path.add(names.substr(0, length));
    names.remove_prefix(std::min(length + 1, names.size()));
  }
  range.path = path.whole(mapping.end_of_path, path_at_root);
  return range;
}

}  // namespace

trace::TaskState state_of(std::span<const std::byte> chunks, std::uint64_t first_argument) {
  trace::TaskState result;
  CapturedPath paths[path_first_argument + 1];
  capture::for_each_chunk<trace_chunk>(chunks, [&](const trace_chunk& chunk, std::span<const std::byte> bytes) {
    const std::size_t which = chunk.address;
    if (chunk.kind == chunk_process && bytes.size() == sizeof(process_facts)) {
      process_facts facts;
      std::memcpy(&facts, bytes.data(), sizeof facts);
      read_process(facts, result);
      result.root = {{}, device_of(facts.root_device), facts.root_inode, facts.mount_namespace};
    } else if (chunk.kind == chunk_name && which < std::size(paths)) {
      paths[which].add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    } else if (chunk.kind == chunk_path_end && which < std::size(paths) && bytes.size() == sizeof(path_end)) {
      path_end end;
      std::memcpy(&end, bytes.data(), sizeof end);
      if (which == path_root && result.root) {
        result.root->path = paths[which].whole(end, path_at_top);
      } else if (which == path_working_directory) {
        result.working_directory = paths[which].whole(end, path_at_root);
      } else if (which == path_first_argument) {
        result.descriptor = static_cast<std::int32_t>(first_argument);
        result.descriptor_path = paths[which].whole(end, path_at_root);
      }
    }
  });
  return result;
}

CapturedCrash crash_of(std::span<const std::byte> record) {
  CapturedCrash crash;
  if (record.size() < offsetof(crash_record, mappings)) {
    return crash;
  }
  crash_record front{};
  std::memcpy(&front, record.data(), std::min(sizeof front, record.size()));
  const std::size_t complete = (record.size() - offsetof(crash_record, mappings)) / sizeof front.mappings[0];
  const std::size_t count = std::min<std::size_t>({front.mapping_count, complete, most_crash_mappings});
  read_process(front.facts, crash.state);
  for (std::size_t i = 0; i < count; ++i) {
    crash.state.mappings.push_back(range_of(front.mappings[i]));
  }
  std::sort(crash.state.mappings.begin(), crash.state.mappings.end(),
            [](const proc::MappedRange& a, const proc::MappedRange& b) { return a.start < b.start; });
  crash.state.stack_pointer = front.stack_pointer;
  crash.instruction_pointer = front.instruction_pointer;
  const auto stack = std::span(front.stack).first(std::min<std::size_t>(front.stack_size, crash_stack_size));
  capture::append_chunk<trace_chunk>(crash.memory, chunk_memory, registers_address,
                                     std::as_bytes(std::span(front.registers)));
  capture::append_chunk<trace_chunk>(crash.memory, chunk_memory, front.stack_pointer, std::as_bytes(stack));
  return crash;
}

}  // namespace tracer::bpf
