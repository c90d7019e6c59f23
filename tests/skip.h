// SKIP(reason): ends a test that cannot run on this machine; ctest shows it as skipped. Catch2 has it from 3.3 on.
#pragma once

#include "catch.h"

#ifndef SKIP
#include <sstream>
#include <string>

#define TRACER_OWN_SKIP

namespace tracer::test {

/// Notes the reason and leaves the test case. What has failed before stays failed.
[[noreturn]] void skip(std::string reason);

}  // namespace tracer::test

#define SKIP(reason)                         \
  do {                                       \
    std::ostringstream skip_reason;          \
    skip_reason << reason;                   \
    ::tracer::test::skip(skip_reason.str()); \
  } while (false)
#endif
