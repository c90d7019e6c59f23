#include "inprocess/embedded.h"

#ifdef TRACER_RECORDER_CODE
asm(".pushsection .rodata\n"
    ".globl tracer_recorder_code, tracer_recorder_code_end\n"
    ".hidden tracer_recorder_code, tracer_recorder_code_end\n"
    ".balign 16\n"
    "tracer_recorder_code:\n"
    ".incbin \"" TRACER_RECORDER_CODE
    "\"\n"
    "tracer_recorder_code_end:\n"
    ".popsection\n");

extern "C" {
extern const std::byte tracer_recorder_code[];
extern const std::byte tracer_recorder_code_end[];
}

namespace tracer::inprocess {

std::span<const std::byte> recorder_code() {
  return {tracer_recorder_code, tracer_recorder_code_end};
}

}  // namespace tracer::inprocess
#else
namespace tracer::inprocess {

std::span<const std::byte> recorder_code() {
  return {};
}

}  // namespace tracer::inprocess
#endif
