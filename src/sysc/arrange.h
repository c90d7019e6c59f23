// Orders the entries of the tables.
#pragma once

#include "spec/table_set.h"

namespace tracer::sysc {

/// Returns the same tables, with the entries that a call needs next to each other, in the order of call numbers. The
/// entries of rows that a value selects (requests of ioctl, types of messages) follow, shortest lists first. Tables
/// are demand-paged from the executable, and in this order a trace of common calls needs few pages.
spec::TableSet arrange(spec::TableSet set);

}  // namespace tracer::sysc
