#include "pipeline/exports/shell_words.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/printable.h"

namespace tracer::pipeline::exports {

namespace {

/// Whether no shell gives a meaning to the character, wherever it stands.
bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("%+,-./:=@_").find(c) != std::string_view::npos;
}

/// What stands for a byte in $'…'.
std::string escaped(char byte) {
  switch (byte) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      return fmt::format("\\{:03o}", static_cast<unsigned char>(byte));
  }
}

}  // namespace

std::string shell_word(std::string_view bytes) {
  if (!bytes.empty() && std::all_of(bytes.begin(), bytes.end(), is_plain)) {
    return std::string(bytes);
  }
  const bool readable = is_printable(bytes);
  std::string word = readable ? "'" : "$'";
  while (!bytes.empty()) {
    const std::size_t length = printable_length(bytes);
    if (length == 0) {
      word += escaped(bytes.front());
    } else if (readable && bytes.front() == '\'') {
      word += "'\\''";
    } else if (!readable && (bytes.front() == '\'' || bytes.front() == '\\')) {
      word += {'\\', bytes.front()};
    } else {
      word += bytes.substr(0, length);
    }
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return word + '\'';
}

std::string shell_words(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    const std::string quoted = shell_word(word);
    if (line.empty() && quoted.find('=') != std::string::npos && quoted == word) {
      line = "'" + word + "'";  // else it would be an assignment
      continue;
    }
    line += line.empty() ? "" : " ";
    line += quoted;
  }
  return line;
}

}  // namespace tracer::pipeline::exports
