// --doctor: reports what a tracer may do on this machine, with a remedy for each thing that it may not.
#pragma once

#include <string>

namespace tracer::app {

/// Returns the report. Traces a program that does nothing, and loads and unloads the BPF engine; changes nothing
/// permanently.
std::string doctor_report();

}  // namespace tracer::app
