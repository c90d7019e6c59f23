#include "format/error_names.h"

#include <array>
#include <cerrno>
#include <cstring>

namespace tracer::format {
namespace {

// include/linux/errno.h of the kernel: programs never see these numbers, but tracers do.
constexpr int erestartsys = 512;
constexpr int erestartnointr = 513;
constexpr int erestartnohand = 514;
constexpr int erestart_restartblock = 516;
constexpr std::array<std::string_view, 19> kernel_names = {"ERESTARTSYS",
                                                           "ERESTARTNOINTR",
                                                           "ERESTARTNOHAND",
                                                           "ENOIOCTLCMD",
                                                           "ERESTART_RESTARTBLOCK",
                                                           "EPROBE_DEFER",
                                                           "EOPENSTALE",
                                                           "ENOPARAM",
                                                           "",
                                                           "EBADHANDLE",
                                                           "ENOTSYNC",
                                                           "EBADCOOKIE",
                                                           "ENOTSUPP",
                                                           "ETOOSMALL",
                                                           "ESERVERFAULT",
                                                           "EBADTYPE",
                                                           "EJUKEBOX",
                                                           "EIOCBQUEUED",
                                                           "ERECALLCONFLICT"};

}  // namespace

bool is_restart_code(int number) {
  return number == erestartsys || number == erestartnointr || number == erestartnohand ||
         number == erestart_restartblock;
}

std::string_view error_name(int number) {
  if (number >= erestartsys && static_cast<std::size_t>(number - erestartsys) < kernel_names.size()) {
    return kernel_names[static_cast<std::size_t>(number - erestartsys)];
  }
  if (number == EOPNOTSUPP) {
    return "EOPNOTSUPP";  // the C library returns ENOTSUP, which is the same number
  }
  const char* name = number > 0 ? strerrorname_np(number) : nullptr;
  return name == nullptr ? std::string_view{} : name;
}

std::string_view error_text(int number) {
  switch (number) {
    case erestartsys:
      return "To be restarted if SA_RESTART is set";
    case erestartnointr:
      return "To be restarted";
    case erestartnohand:
      return "To be restarted if no handler";
    case erestart_restartblock:
      return "Interrupted by signal";
    default:
      break;
  }
  const char* text = number > 0 ? strerrordesc_np(number) : nullptr;
  return text == nullptr ? std::string_view{} : text;
}

}  // namespace tracer::format
