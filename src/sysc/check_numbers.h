// Checks ioctl numbers that are written out against the size of their argument.
#pragma once

#include "sysc/lower_signatures.h"

namespace tracer::sysc {

/// Warns of numbers written out that the size of the argument determines or contradicts.
void check_numbers(LoweringContext& context, IoctlLowering& ioctls, const IoctlSignatures& signatures);

}  // namespace tracer::sysc
