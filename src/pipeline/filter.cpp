#include "pipeline/filter.h"

#include <algorithm>
#include <array>

#include "pipeline/fd_finder.h"
#include "pipeline/named_arguments.h"

namespace tracer::pipeline {

using spec::Style;
using spec::TypeKind;

namespace {

bool is_fd(const spec::Type& type) {
  return type.style == Style::fd || type.style == Style::dirfd;
}

}  // namespace

Filter::Filter(FilterOptions options, const spec::Tables& tables, const decode::Decoder& decoder,
               names::DescriptorNames& names)
    : options_(std::move(options)),
      tables_(tables),
      sub_calls_(tables),
      decoder_(decoder),
      names_(names),
      state_(decoder.make_state()) {}

void Filter::resolve(const decode::Entry& entry, const trace::Memory& memory) const {
  FdFinder ignore([](std::int32_t) {});
  decoder_.resolve(*state_, entry, memory, ignore);
}

std::uint64_t Filter::sub_call_of(const decode::Entry& entry, const trace::Memory& memory) const {
  resolve(entry, memory);
  const spec::SubCall* call = sub_calls_.find(entry.abi, entry.number, decoder_.name_of(*state_));
  return call == nullptr ? entry.number : call->number;
}

bool Filter::is_unknown(Abi abi, std::uint64_t number) const {
  return sub_calls_.find(number) == nullptr && tables_.find(abi, number) == nullptr;
}

bool Filter::matches_arguments(const decode::Entry& entry, const trace::Memory& memory) const {
  resolve(entry, memory);
  const spec::Signature* signature = decode::Decoder::signature_of(*state_);
  if (signature == nullptr) {
    return false;
  }
  bool found = false;
  visit_named_arguments(
      tables_, *signature, entry.abi, decode::Decoder::arguments_of(*state_),
      [&](std::int32_t fd, Style) {
        found = found || matches_fd({entry.tid, memory.snapshot()}, fd);
      },
      [&](RemoteAddr path) { found = found || matches_path(path, memory); });
  if (found) {
    return true;
  }
  return has_fds_inside(*signature) && matches_inside(entry, memory);
}

/// Returns whether an argument holds several descriptors: the array of poll, the sets of select.
bool Filter::has_fds_inside(const spec::Signature& signature) const {
  for (const spec::Param& param : spec::Tables::slice(tables_.params, signature.params)) {
    if (param.type == spec::none || tables_.types[param.type].kind != TypeKind::pointer) {
      continue;
    }
    const spec::Type& target = tables_.types[tables_.types[param.type].target];
    if (target.kind == TypeKind::custom && tables_.text(tables_.customs[target.custom]) == "fd_set") {
      return true;
    }
    if (target.kind != TypeKind::array || tables_.types[target.target].kind != TypeKind::structure) {
      continue;
    }
    const spec::Struct& element = tables_.structs[tables_.types[target.target].index];
    for (const spec::Field& field : spec::Tables::slice(tables_.fields, element.fields)) {
      if (field.type != spec::none && is_fd(tables_.types[field.type])) {
        return true;
      }
    }
  }
  return false;
}

bool Filter::matches_inside(const decode::Entry& entry, const trace::Memory& memory) const {
  bool found = false;
  FdFinder finder([&](std::int32_t fd) { found = found || matches_fd({entry.tid, memory.snapshot()}, fd); });
  decoder_.enter(*state_, entry, {.abbreviate = false, .dereference = true, .raw = false}, memory, finder);
  return found;
}

bool Filter::matches_fd(const names::Task& task, std::int32_t fd) const {
  if (fd < 0) {
    return false;
  }
  if (options_.trace_fds && options_.trace_fds->contains(static_cast<std::uint32_t>(fd))) {
    return true;
  }
  if (options_.paths.empty()) {
    return false;
  }
  return options_.paths.has_link(names_.path(task, fd));
}

bool Filter::matches_path(RemoteAddr address, const trace::Memory& memory) const {
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
  const int error = status == CallStatus::failed ? static_cast<int>(-outcome.value) : 0;
  return options_.end.wants(status, error, duration);
}

}  // namespace tracer::pipeline
