// --doctor: one screen about what this machine lets a tracer do, and the remedy for what it does not.
#pragma once

#include <string>

namespace tracer::app {

/// Tries things out: traces a program that does nothing, loads and unloads the BPF engine. Changes nothing that lasts.
std::string doctor_report();

}  // namespace tracer::app
