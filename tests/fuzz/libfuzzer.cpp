// The decoder under libFuzzer. Configure with clang and -DCMAKE_CXX_FLAGS=-fsanitize=fuzzer-no-link for coverage.
#include "fuzz_call.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static tracer::fuzz::CallFuzzer fuzzer(tracer::spec::builtin_tables());
  tracer::fuzz::InputSource source({data, size});
  if (!fuzzer.one_call(source).empty()) {
    __builtin_trap();
  }
  return 0;
}
