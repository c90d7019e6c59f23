// Folders: what is in them, and which one a path is in.
#pragma once

#include <functional>
#include <string>

namespace tracer {
inline namespace base {

/// Calls `visit` with the name of each entry but `.` and `..`, in no order, until it returns false. False if the folder
/// is not there or may not be read.
bool for_each_entry(const std::string& folder, const std::function<bool(const char* name)>& visit);

/// What comes before the last slash: of `/a/b` it is `/a`, of `/a` it is `/`, of `a` it is `.`.
[[nodiscard]] std::string folder_of(const std::string& path);

}  // namespace base
}  // namespace tracer
