#include "explain/configuration_text.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/read_file.h"
#include "explain/text_search.h"

namespace tracer::explain {

namespace {

constexpr std::size_t max_size = std::size_t{1} << 20;

std::string_view ending_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

bool is_blank(const std::string& line) {
  return line.find_first_not_of(" \t\r") == std::string::npos;
}

bool is_comment(const std::string& line) {
  const std::size_t at = line.find_first_not_of(" \t");
  return at != std::string::npos && (line[at] == '#' || line[at] == ';' || line.compare(at, 2, "//") == 0);
}

/// True for characters that may stand in a path, a host or a number.
bool in_value(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '/' || c == '-' || c == '_';
}

}  // namespace

bool is_source_name(const std::string& path) {
  const std::string name = base_name(path);
  return name == "CMakeLists.txt" ||
         is_listed(
             ending_of(name),
             "c h cc hh cpp hpp cxx hxx inc s S py pyc pl pm rb js mjs cjs ts php java class go rs sh bash zsh lua tcl "
             "awk sed sql cmake m4 R f f90 hs ml el vim");
}

bool is_configuration_name(const std::string& path) {
  const std::string name = base_name(path);
  if (is_source_name(path) || is_library_name(name)) {
    return false;
  }
  for (const std::string_view place : {"/proc/", "/sys/", "/dev/", "/usr/lib/", "/usr/share/", "/lib/"}) {
    if (path.starts_with(place)) {
      return false;
    }
  }
  return path.starts_with("/etc/") || name.ends_with("rc") ||
         is_listed(ending_of(name),
                   "conf cfg cnf ini config json yaml yml toml xml properties env rules service local") ||
         is_listed(name, "config Makefile makefile GNUmakefile Dockerfile crontab authorized_keys known_hosts");
}

namespace {
constexpr std::string_view asterisks = "********";
}  // namespace

std::string without_passwords(const std::string& text) {
  std::string line = text;
  for (std::size_t scheme = line.find("://"); scheme != std::string::npos; scheme = line.find("://", scheme + 3)) {
    const std::size_t end = std::min(line.find_first_of("/?# \t\n\\\"'", scheme + 3), line.size());
    const std::string authority = line.substr(scheme + 3, end - scheme - 3);
    const std::size_t at = authority.rfind('@');  // a password may have an @, too
    const std::size_t colon = authority.find(':');
    if (at != std::string::npos && colon < at) {
      line.replace(scheme + 3 + colon + 1, at - colon - 1, asterisks);
    }
  }
  return line;
}

std::string without_secrets(const std::string& text) {
  const std::string line = without_passwords(text);
  constexpr std::array<std::string_view, 9> names = {"pass", "pwd", "secret",  "token", "cred",
                                                     "key",  "psk", "private", "auth"};
  const std::string low = lower(line);
  std::size_t first = std::string::npos;
  for (const std::string_view name : names) {
    first = std::min(first, low.find(name));
  }
  const std::size_t end = first == std::string::npos ? first : line.find_first_of(" \t=:>", first);
  const std::size_t value = end == std::string::npos ? end : line.find_first_not_of(" \t=:>", end);
  return value == std::string::npos ? line : line.substr(0, value).append(asterisks);
}

ConfigurationText::ConfigurationText(const Prober& prober, const std::string& path) {
  const Walk walk = prober.walk(path);
  const proc::TraceeFile file = prober.open_readable(walk);
  if (!file.descriptor.valid() || file.status.st_size > off_t{max_size}) {
    return;
  }
  const std::string text = read_descriptor(file.descriptor.get(), max_size);
  if (text.find('\0') != std::string::npos) {
    return;
  }
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines_.push_back(text.substr(from, end - from));
    from = end + 1;
  }
}

std::string ConfigurationText::line(std::size_t number) const {
  return number == 0 || number > lines_.size() ? std::string() : lines_[number - 1];
}

std::size_t ConfigurationText::line_with_value(std::string_view value) const {
  for (std::size_t i = 0; !value.empty() && i < lines_.size(); ++i) {
    const std::string& line = lines_[i];
    for (std::size_t at = line.find(value); !is_comment(line) && at != std::string::npos;
         at = line.find(value, at + 1)) {
      const std::size_t end = at + value.size();
      if ((at == 0 || !in_value(line[at - 1])) && (end == line.size() || !in_value(line[end]) || line[end] == '/')) {
        return i + 1;
      }
    }
  }
  return 0;
}

std::size_t ConfigurationText::unfinished_before(std::size_t number) const {
  const auto finished = [](const std::string& line) {
    const std::size_t last = line.find_last_not_of(" \t\r");
    return last != std::string::npos && contains(";{}", line.substr(last, 1));
  };
  std::size_t statements = 0;
  std::size_t ended = 0;
  for (const std::string& line : lines_) {
    const bool counts = !is_blank(line) && !is_comment(line);
    statements += counts ? 1 : 0;
    ended += counts && finished(line) ? 1 : 0;
  }
  std::size_t before = std::min(number, lines_.size() + 1);
  do {
    before = before == 0 ? 0 : before - 1;
  } while (before != 0 && (is_blank(line(before)) || is_comment(line(before))));
  return before != 0 && ended * 3 > statements * 2 && !finished(line(before)) ? before : 0;
}

}  // namespace tracer::explain
