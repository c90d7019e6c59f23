#include "explain/words.h"

#include <algorithm>

namespace tracer::explain {

bool contains(std::string_view text, std::string_view part) {
  return !part.empty() && text.find(part) != std::string_view::npos;
}

bool is_listed(std::string_view word, std::string_view list) {
  for (std::size_t at = list.find(word); at != std::string_view::npos; at = list.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) {
      return true;
    }
  }
  return false;
}

std::string line_with(const std::string& text, std::string_view part) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) {
    return {};
  }
  const std::size_t before = text.rfind('\n', at);
  const std::size_t from = before == std::string::npos ? 0 : before + 1;
  return text.substr(from, std::min(text.find('\n', at), text.size()) - from);
}

std::string word_before(const std::string& line, std::string_view part) {
  const std::string head = line.substr(0, std::min(line.find(part), line.size()));
  const std::size_t colon = head.rfind(": ");
  return colon == std::string::npos ? head : head.substr(colon + 2);
}

std::string word_after(const std::string& line, std::string_view part, std::string_view stops) {
  const std::size_t at = line.find(part);
  if (at == std::string::npos) {
    return {};
  }
  const std::string tail = line.substr(at + part.size());
  return tail.substr(0, tail.find_first_of(stops));
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() ? "" : std::string(separator)) + part;
  }
  return text;
}

}  // namespace tracer::explain
