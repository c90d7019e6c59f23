#include "trace/pipeline_filter.h"

#include <algorithm>
#include <array>

namespace tracer::pipeline {

using spec::Style;
using spec::TypeKind;

Filter::Filter(FilterOptions options, const spec::Tables& tables, decode::Names& names)
    : options_(std::move(options)), tables_(tables), names_(names) {}

bool Filter::wants(Abi abi, std::uint64_t number) const {
  return options_.calls.contains(abi, number) || tables_.find(abi, number) == nullptr;
}

bool Filter::wants_arguments(const decode::Entry& entry, const Memory& memory) const {
  if (!by_arguments()) {
    return true;
  }
  const spec::Call* call = tables_.find(entry.abi, entry.number);
  if (call == nullptr) {
    return false;
  }
  const auto& signature = tables_.signatures[call->signature];
  for (const spec::Param& param : spec::Tables::slice(tables_.params, signature.params)) {
    const std::size_t slot = param.slot[index_of(entry.abi)];
    if (param.type == spec::none || slot >= entry.args.size()) {
      continue;
    }
    const spec::Type& type = tables_.types[param.type];
    const std::uint64_t value = entry.args[slot];
    if (type.kind == TypeKind::scalar && (type.style == Style::fd || type.style == Style::dirfd)) {
      if (matches_fd(entry, static_cast<std::int32_t>(value))) {
        return true;
      }
    } else if (type.kind == TypeKind::pointer && type.target != spec::none) {
      const spec::Type& target = tables_.types[type.target];
      if (target.kind == TypeKind::cstr && target.style == Style::path && matches_path(RemoteAddr(value), memory)) {
        return true;
      }
    }
  }
  return false;
}

bool Filter::matches_fd(const decode::Entry& entry, std::int32_t fd) const {
  if (fd < 0) {
    return false;
  }
  if (options_.trace_fds && options_.trace_fds->contains(static_cast<std::uint32_t>(fd))) {
    return true;
  }
  if (options_.paths.empty()) {
    return false;
  }
  return options_.paths.has_link(names_.descriptor(entry.tid, fd).text);
}

bool Filter::matches_path(RemoteAddr address, const Memory& memory) const {
  std::array<std::byte, 4096> raw;  // PATH_MAX
  const std::size_t most = std::min(options_.paths.longest() + 1, raw.size());
  const std::size_t got = memory.read(address, std::span(raw).first(most));
  const std::string_view bytes(reinterpret_cast<const char*>(raw.data()), got);
  const auto end = bytes.find('\0');
  return end != std::string_view::npos && options_.paths.has(bytes.substr(0, end));
}

bool Filter::wants_end(const decode::Outcome& outcome, std::chrono::nanoseconds duration) const {
  using filter::CallStatus;
  const CallStatus status = !outcome.known     ? CallStatus::unfinished
                            : outcome.is_error ? CallStatus::failed
                                               : CallStatus::successful;
  if (!wants_status(status)) {
    return false;
  }
  if (!options_.errnos.empty()) {
    const auto number = static_cast<int>(-outcome.value);
    if (!outcome.known || !outcome.is_error ||
        std::find(options_.errnos.begin(), options_.errnos.end(), number) == options_.errnos.end()) {
      return false;
    }
  }
  return !options_.min_duration || duration >= *options_.min_duration;
}

}  // namespace tracer::pipeline
