#include "explain/text_search.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "base/printable.h"
#include "explain/record.h"

namespace tracer::explain {

bool contains(std::string_view text, std::string_view part) {
  return !part.empty() && text.find(part) != std::string_view::npos;
}

bool is_named(std::string_view name, std::string_view text) {
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '#'; };
  for (std::size_t at = text.find(name); !name.empty() && at != std::string_view::npos; at = text.find(name, at + 1)) {
    // Punctuation that ends a sentence may also be part of a name.
    std::size_t end = at + name.size();
    end += end < text.size() && contains("/.-", text.substr(end, 1)) ? 1 : 0;
    if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]))) {
      return true;
    }
  }
  return false;
}

std::string lines_where(std::string_view text, const std::function<bool(std::string_view)>& keeps) {
  std::string kept;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size() - 1) + 1;
    const std::string_view line = text.substr(from, end - from);
    kept += keeps(line) ? line : std::string_view();
    from = end;
  }
  return kept;
}

std::string without_remarks(const std::string& text) {
  constexpr std::array<std::string_view, 14> remarks = {"LOG:",   "INFO",     "[info]",   "DEBUG",   "[debug]",
                                                        "NOTICE", "[notice]", "arning",   "WARNING", "[warn]",
                                                        " warn ", "skipping", "ignoring", "gnored"};
  return lines_where(text, [&](std::string_view line) {
    const bool is_remark =
        std::any_of(remarks.begin(), remarks.end(), [&](std::string_view remark) { return contains(line, remark); });
    // PostgreSQL gives the reason in such a line.
    const bool is_reason =
        contains(line, "LOG:  ") && (contains(line, "could not ") || contains(line, "does not exist"));
    return !is_remark || is_reason;
  });
}

std::string without_quoted_source(const std::string& text) {
  const auto is_marker = [](std::string_view line) {
    return contains(line, "^") && line.find_first_not_of(" \t|^~+-\n") == std::string_view::npos;
  };
  constexpr std::string_view place = "  File \"";  // Python's
  std::vector<std::string_view> lines;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    lines.push_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  std::string kept;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool is_quoted = (i + 1 < lines.size() && is_marker(lines[i + 1])) ||
                           (i > 0 && lines[i - 1].starts_with(place) && lines[i].starts_with("    "));
    kept += is_quoted || is_marker(lines[i]) ? std::string_view() : lines[i];
  }
  return kept;
}

bool reports_inability(std::string_view text) {
  constexpr std::array<std::string_view, 29> words = {
      "annot ",      "ailed open",  "an't ",        "ould not ",    "ouldn't ",     "nable to ",
      "ailed to ",   " found",      "issing",       "o such file",  "not exist",    "o rule to ",
      "navailable",  "n't exist",   "n't open",     "n't read",     "rror openin",  "rror readin",
      "rror loadin", "o such dir",  "NoSuchFile",   "FileNotFound", "not access",   "not readable",
      "ailure ",     "naccessible", "not contain ", "o file named", "' is required"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return contains(text, word); });
}

bool reports_error(std::string_view line) {
  constexpr std::array<std::string_view, 20> words = {
      "rror",       "ERROR",  "atal",  "FATAL",  "ailed", "FAILED", "annot ",   "an't ",   "ould not", "nable to ",
      "o response", "nvalid", "rong ", "nknown", "ad ",   "issing", "ot found", "o such ", "enied",    "not exist"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return contains(line, word); });
}

bool is_library_name(std::string_view name) {
  name = name.substr(name.rfind('/') + 1);  // npos + 1 is 0
  const std::size_t at = name.find(".so");
  return at != std::string_view::npos && (at + 3 == name.size() || name[at + 3] == '.');
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

std::string escape_unprintable(std::string_view sentence) {
  std::string text;
  while (!sentence.empty()) {
    const std::size_t shown = printable_length(sentence);
    text += shown != 0 ? std::string(sentence.substr(0, shown)) : printable(sentence.substr(0, 1));
    sentence.remove_prefix(std::max<std::size_t>(shown, 1));
  }
  return text;
}

std::string last_line(std::string_view text) {
  text = text.substr(0, text.find_last_not_of('\n') + 1);
  return std::string(text.substr(text.rfind('\n') + 1));  // npos + 1 is 0
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

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
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

std::string join_first(std::vector<std::string> parts) {
  constexpr std::size_t max_named = 4;
  if (parts.size() > max_named) {
    parts.resize(max_named);
    parts.emplace_back("…");
  }
  return join(parts, ", ");
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() ? "" : std::string(separator)) + part;
  }
  return text;
}

}  // namespace tracer::explain
