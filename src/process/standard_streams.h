// The tracer's own standard input and output, which it shares with the program that it starts.
#pragma once

namespace tracer::process {

/// Leaves standard input and output to the program: whoever is at the other end of a pipe sees its end as soon as the
/// program has closed it. Here they stay open, as pipes that lead nowhere. Standard error is for our messages and
/// stays.
void leave_standard_streams_to_program();

}  // namespace tracer::process
