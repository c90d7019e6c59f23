// Names of tracees in commands that a user may copy into a shell.
#pragma once

#include <string>
#include <string_view>

namespace tracer::explain {

/// Returns `name`, which is printable, as one word of a shell: in single quotes unless every character is harmless.
inline std::string shell_word(std::string_view name) {
  constexpr std::string_view harmless =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%=";  // and no ~, which is somebody's home
  if (!name.empty() && name.front() != '-' && name.find_first_not_of(harmless) == std::string_view::npos) {
    return std::string(name);
  }
  std::string word = name.starts_with('-') ? "'./" : "'";
  for (const char c : name) {
    word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return word + '\'';
}

}  // namespace tracer::explain
