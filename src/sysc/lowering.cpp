#include "sysc/lowering.h"

#include <algorithm>

#include "sysc/check_numbers.h"
#include "sysc/timing.h"

namespace tracer::sysc {

spec::TableSet Lowering::run(const CompileOptions& options) {
  // Types refer to sets by index, so sets come first. Ioctl numbers need layouts.
  sets_.lower();
  ioctls_.declare();
  structs_.declare();
  ioctls_.lower();
  structs_.lower();
  calls_.lower();
  calls_.lower_numbers(options.lenient);
  for (auto& param : context_.set.params) {
    for (auto& slot : param.slot) {
      slot = std::min<std::uint8_t>(slot, register_count - 1);  // an ABI that does not have the call may exceed it
    }
  }
  libraries_.lower();
  context_.symbols.check_beyond(context_.program, context_.diagnostics);
  derive_timing(context_.set);
  if (options.numbers) {
    check_numbers(context_, ioctls_, signatures_.ioctl_signatures());
  }
  return std::move(context_.set);
}

}  // namespace tracer::sysc
