// The C library's <string.h> has basename(3), and libiberty's own declaration of it differs.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include <csetjmp>

#include "base/printable.h"
#include "stack/symbols.h"

namespace tracer::stack {

namespace {

/// Collects demangled text and aborts the demangler with longjmp(3) after `max_size` bytes. Back references let a short
/// name expand to any length. The abort leaks no memory, except for Rust names in Punycode.
struct Collector {
  static constexpr std::size_t max_size = 16384;

  std::jmp_buf abort;
  char text[max_size];
  std::size_t size = 0;

  static void append(const char* part, std::size_t length, void* opaque) {
    auto& self = *static_cast<Collector*>(opaque);
    const std::size_t available = max_size - self.size;
    const std::size_t copied = length < available ? length : available;
    __builtin_memcpy(self.text + self.size, part, copied);
    self.size += copied;
    if (copied < length) {
      std::longjmp(self.abort, 1);
    }
  }
};

using Demangler = int (*)(const char*, int, demangle_callbackref, void*);

bool run(Demangler demangler, const char* name, Collector& into) {
  into.size = 0;
  // longjmp() requires that no frame between here and Collector::append has a destructor to run.
  if (setjmp(into.abort) != 0) {
    return true;
  }
  return demangler(name, DMGL_PARAMS | DMGL_ANSI, Collector::append, &into) != 0;
}

}  // namespace

std::string demangle(std::string_view name) {
  constexpr std::size_t max_mangled_size = 4096;
  if (name.size() > max_mangled_size ||
      !(name.starts_with("_Z") || name.starts_with("_R") || name.starts_with("_GLOBAL_"))) {
    return printable(name);
  }
  std::string terminated(name);
  Collector collector;
  if (run(::rust_demangle_callback, terminated.c_str(), collector) ||
      run(::cplus_demangle_v3_callback, terminated.c_str(), collector)) {
    return printable({collector.text, collector.size});
  }
  return printable(terminated);
}

}  // namespace tracer::stack
