// Catch2 2 or 3.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>

namespace tracer::test {
using Catch::Matchers::ContainsSubstring;
}
#else
#include <catch2/catch.hpp>

#include <string>

namespace tracer::test {
/// Catch2 3's name of it.
inline auto ContainsSubstring(const std::string& part) {
  return Catch::Matchers::Contains(part);
}
}  // namespace tracer::test
#endif
