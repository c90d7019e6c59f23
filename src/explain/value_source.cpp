#include "explain/value_source.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <optional>

#include "explain/configuration_text.h"
#include "explain/rule.h"
#include "explain/text_search.h"

namespace tracer::explain {

namespace {

// What a shell keeps for itself says nothing about the program's intentions.
constexpr std::string_view kept_by_shells = "PWD OLDPWD _ SHLVL SHELL PATH MANPATH LS_COLORS";
constexpr std::size_t max_files = 32;

using Matches = std::function<bool(std::string_view name, std::string_view value)>;

/// Calls `visit` with the names and values of the environment until it returns true.
void for_each_variable(const Process& process, const Matches& visit) {
  const std::string_view all = process.environment ? std::string_view(*process.environment) : std::string_view();
  for (std::size_t from = 0; from < all.size();) {
    const std::size_t end = std::min(all.find('\0', from), all.size());
    const std::string_view one = all.substr(from, end - from);
    from = end + 1;
    const std::size_t sign = one.find('=');
    if (sign != std::string_view::npos && sign != 0 && visit(one.substr(0, sign), one.substr(sign + 1))) {
      return;
    }
  }
}

std::optional<ValueSource> in_environment(const Process& process, const Matches& matches) {
  std::optional<ValueSource> found;
  for_each_variable(process, [&](std::string_view name, std::string_view value) {
    if (value.empty() || is_listed(name, kept_by_shells) || !matches(name, value)) {
      return false;
    }
    const std::string shown = printable(name);
    found = ValueSource{"the environment variable " + shown, shown};
    return true;
  });
  return found;
}

/// Looks at the options of the program, `--name=value` and `-n value`; operands are no news to who typed them.
std::optional<ValueSource> in_options(const Process& process, const Matches& matches) {
  const auto words = process.words();
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].size() < 2 || words[i].front() != '-') {
      continue;
    }
    const std::size_t sign = words[i].find('=');
    const bool is_joined = sign != std::string::npos && matches("", std::string_view(words[i]).substr(sign + 1));
    const bool has_operand = sign == std::string::npos && i + 1 < words.size();
    const bool is_code = has_operand && words[i + 1].find_first_of("(;\n") != std::string::npos;  // of perl -e
    // curl -sS URL, curl -s URL: a word behind letters, or at the end behind one, may well be an operand.
    const bool is_short = words[i][1] != '-';
    const bool is_last_address = has_operand && i + 2 == words.size() && contains(words[i + 1], "://");
    const bool is_operand = is_last_address || (is_short && (words[i].size() == 3 || i + 2 == words.size()));
    const bool is_parted = has_operand && !is_code && !is_operand && matches("", words[i + 1]);
    if (is_joined || is_parted) {
      const std::string shown = printable(words[i].substr(0, sign));
      return ValueSource{"the option " + shown, shown};
    }
  }
  return std::nullopt;
}

std::optional<ValueSource> in_files(const Prober& prober, std::string_view value) {
  std::size_t seen = 0;
  const auto& opened = prober.process().opened;
  for (auto one = opened.rbegin(); one != opened.rend() && seen < max_files; ++one) {
    if (!is_configuration_name(one->path)) {
      continue;
    }
    ++seen;
    const ConfigurationText text(prober, one->path);
    if (const std::size_t line = text.line_with_value(value); line != 0) {
      const std::string place = fmt::format("{}, line {}", printable(one->path), line);
      return ValueSource{place, place};
    }
  }
  return std::nullopt;
}

bool ends_with_any(std::string_view name, std::string_view words) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  while (!words.empty()) {
    const std::size_t blank = std::min(words.find(' '), words.size());
    if (upper.ends_with(words.substr(0, blank))) {
      return true;
    }
    words.remove_prefix(std::min(blank + 1, words.size()));
  }
  return false;
}

/// True if `text` contains `part`, and neither a digit nor a letter continues it.
bool has_word(std::string_view text, std::string_view part) {
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]))) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string source_of_value(const Process& process, const std::function<bool(std::string_view value)>& matches) {
  std::string found;
  for_each_variable(process, [&](std::string_view name, std::string_view value) {
    found = matches(value) ? std::string(name) : std::string();
    return !found.empty();
  });
  return found;
}

std::string environment_value(const Process& process, std::string_view wanted) {
  std::string found;
  for_each_variable(process, [&](std::string_view name, std::string_view value) {
    found = name == wanted ? std::string(value) : std::string();
    return name == wanted;
  });
  return found;
}

ValueSource source_of_address(const Prober& prober, const std::string& host, unsigned port) {
  const Process& process = prober.process();
  const std::string number = std::to_string(port);
  const std::string both = host + ':' + number;
  const Matches whole = [&](std::string_view, std::string_view value) {
    // The resolver made the address of `localhost`.
    return has_word(value, both) || (host == "127.0.0.1" && has_word(value, "localhost:" + number));
  };
  const Matches part = [&](std::string_view name, std::string_view value) {
    return (value == number && ends_with_any(name, "PORT")) ||
           (value == host && ends_with_any(name, "HOST ADDR ADDRESS SERVER URL"));
  };
  for (const auto& look : {in_environment, in_options}) {
    if (auto found = look(process, whole)) {
      return *found;
    }
  }
  if (auto found = in_environment(process, part)) {
    return *found;
  }
  return in_files(prober, both).value_or(ValueSource());
}

ValueSource source_of_path(const Prober& prober, const std::string& path, const std::string& missing) {
  if (path.size() < 2 || missing.size() < 2) {
    return {};
  }
  const auto names = [&](std::string_view value) {
    while (value.size() > 1 && value.ends_with('/')) {
      value.remove_suffix(1);
    }
    const bool leads_there = path == value || (path.starts_with(value) && path[value.size()] == '/');
    return value.starts_with('/') && value.size() >= missing.size() && leads_there;
  };
  const Matches matches = [&](std::string_view, std::string_view value) { return names(value); };
  for (const auto& look : {in_environment, in_options}) {
    if (auto found = look(prober.process(), matches)) {
      return *found;
    }
  }
  return in_files(prober, path).value_or(ValueSource());
}

void name_source(Finding& finding, const ValueSource& source) {
  if (!source.name.empty()) {
    finding.cause += "; " + source.name + " names it";
    finding.remedy += ", or correct " + source.short_name;
  }
}

}  // namespace tracer::explain
