// Finds the descriptors and paths among the arguments of a call.
#pragma once

#include <array>
#include <cstdint>

#include "base/abi.h"
#include "base/remote_addr.h"
#include "spec/spec.h"

namespace tracer::pipeline {

/// Calls `on_fd(int32_t, Style)` for each argument that is a descriptor, and `on_path(RemoteAddr)` for each that points
/// to a path, in their order. `args`: Decoder::arguments_of().
template <typename OnFd, typename OnPath>
void visit_named_arguments(const spec::Tables& tables, const spec::Signature& signature, Abi abi,
                           const std::array<std::uint64_t, 6>& args, OnFd on_fd, OnPath on_path) {
  for (const spec::Param& param : spec::Tables::slice(tables.params, signature.params)) {
    const std::size_t slot = param.slot[index_of(abi)];
    if (param.type == spec::none || slot >= args.size()) {
      continue;
    }
    const spec::Type& type = tables.types[param.type];
    if (type.kind == spec::TypeKind::scalar && (type.style == spec::Style::fd || type.style == spec::Style::dirfd)) {
      on_fd(static_cast<std::int32_t>(args[slot]), type.style);
    } else if (type.kind == spec::TypeKind::pointer && type.target != spec::none) {
      const spec::Type& target = tables.types[type.target];
      if (target.kind == spec::TypeKind::cstr && target.style == spec::Style::path) {
        on_path(RemoteAddr(args[slot]));
      }
    }
  }
}

}  // namespace tracer::pipeline
