#include "bpf/kernel_version.h"

#include <sys/utsname.h>

#include <cstdlib>
#include <iterator>

namespace tracer::bpf {

std::pair<unsigned long, unsigned long> kernel_version() {
  utsname names{};
  if (::uname(&names) != 0) {
    return {};
  }
  char* rest = nullptr;
  const unsigned long major = std::strtoul(std::data(names.release), &rest, 10);
  return {major, *rest == '.' ? std::strtoul(rest + 1, nullptr, 10) : 0};
}

}  // namespace tracer::bpf
