// The order of what is in the tables.
#pragma once

#include "spec/table_set.h"

namespace tracer::sysc {

/// The same tables with what the descriptions of calls share and need side by side, call by call in the order of their
/// numbers, and behind that what stands in rows that values choose from (requests of ioctl, kinds of messages), those
/// of few rows first. The tables are in a file that is mapped in pieces: a trace of everyday calls needs few of them.
spec::TableSet arrange(spec::TableSet set);

}  // namespace tracer::sysc
