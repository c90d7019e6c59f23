// Descriptions of structures from the kernel's own type information (BTF), for --define=btf:MODULE.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tracer::bpf {

/// Returns the text of a .sys file with the structures and unions of these names, and all that they contain, as a
/// module or the kernel itself (`vmlinux`) says in /sys/kernel/btf. In the text a structure is called btf_NAME. Fails
/// if the kernel does not say it, or has no such structure: then the message names what is nearest.
Result<std::string> describe_from_btf(const std::string& module, const std::vector<std::string>& names);

}  // namespace tracer::bpf
