// Lists directories and finds the directory of a path.
#pragma once

#include <functional>
#include <string>

namespace tracer {
inline namespace base {

/// Calls `visit` with the name of each entry except `.` and `..`, in no particular order, until it returns false.
/// Returns false if the directory cannot be opened.
bool for_each_entry(const std::string& directory, const std::function<bool(const char* name)>& visit);

/// Returns the part before the last slash, like dirname(3): `/a` for `/a/b`, `/` for `/a`, `.` for `a`.
[[nodiscard]] std::string directory_of(const std::string& path);

}  // namespace base
}  // namespace tracer
