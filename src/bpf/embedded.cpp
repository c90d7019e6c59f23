#include "bpf/embedded.h"

// Aligned as an ELF file's headers want to be read in place. Global, though only for this program: on aarch64 two local
// symbols of one section share an entry of the global offset table, and the object would have no length.
#define EMBED(name, file)            \
  asm(".pushsection .rodata\n"       \
      ".globl " #name ", " #name     \
      "_end\n"                       \
      ".hidden " #name ", " #name    \
      "_end\n"                       \
      ".balign 16\n" #name           \
      ":\n"                          \
      ".incbin \"" file "\"\n" #name \
      "_end:\n"                      \
      ".popsection\n")

EMBED(tracer_counting_object, TRACER_COUNTING_OBJECT);
EMBED(tracer_function_records_object, TRACER_FUNCTION_RECORDS_OBJECT);
EMBED(tracer_functions_object, TRACER_FUNCTIONS_OBJECT);
EMBED(tracer_tracing_object, TRACER_TRACING_OBJECT);

extern "C" {
extern const std::byte tracer_counting_object[];
extern const std::byte tracer_counting_object_end[];
extern const std::byte tracer_function_records_object[];
extern const std::byte tracer_function_records_object_end[];
extern const std::byte tracer_functions_object[];
extern const std::byte tracer_functions_object_end[];
extern const std::byte tracer_tracing_object[];
extern const std::byte tracer_tracing_object_end[];
}

namespace tracer::bpf {

std::span<const std::byte> counting_object() {
  return {tracer_counting_object, tracer_counting_object_end};
}

std::span<const std::byte> function_records_object() {
  return {tracer_function_records_object, tracer_function_records_object_end};
}

std::span<const std::byte> functions_object() {
  return {tracer_functions_object, tracer_functions_object_end};
}

std::span<const std::byte> tracing_object() {
  return {tracer_tracing_object, tracer_tracing_object_end};
}

}  // namespace tracer::bpf
