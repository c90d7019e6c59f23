#include <libiberty/demangle.h>

#include <csetjmp>

#include "stack/symbols.h"

namespace tracer::stack {

namespace {

/// A short name can stand for a text of any length, as its parts refer to each other; so the demangler is left in the
/// middle (it holds no memory then, but for Rust names in Punycode) when there is enough of it.
struct Collector {
  static constexpr std::size_t longest = 16384;

  std::jmp_buf enough;
  char text[longest];
  std::size_t size = 0;

  static void take(const char* part, std::size_t length, void* opaque) {
    auto& self = *static_cast<Collector*>(opaque);
    const std::size_t room = longest - self.size;
    const std::size_t taken = length < room ? length : room;
    __builtin_memcpy(self.text + self.size, part, taken);
    self.size += taken;
    if (taken < length) {
      std::longjmp(self.enough, 1);
    }
  }
};

using Demangler = int (*)(const char*, int, demangle_callbackref, void*);

bool run(Demangler demangler, const char* name, Collector& into) {
  into.size = 0;
  // Nothing with a destructor stands between here and the jump.
  if (setjmp(into.enough) != 0) {
    return true;
  }
  return demangler(name, DMGL_PARAMS | DMGL_ANSI, Collector::take, &into) != 0;
}

}  // namespace

std::string demangle(std::string_view name) {
  constexpr std::size_t longest_mangled = 4096;
  if (name.size() > longest_mangled ||
      !(name.starts_with("_Z") || name.starts_with("_R") || name.starts_with("_GLOBAL_"))) {
    return std::string(name);
  }
  std::string terminated(name);
  Collector collector;
  if (run(::rust_demangle_callback, terminated.c_str(), collector) ||
      run(::cplus_demangle_v3_callback, terminated.c_str(), collector)) {
    return std::string(collector.text, collector.size);
  }
  return terminated;
}

}  // namespace tracer::stack
