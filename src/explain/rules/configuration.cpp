// Configuration files that the program says it does not understand, with the line.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "base/number_text.h"
#include "explain/configuration_text.h"
#include "explain/rules/rules.h"
#include "explain/shell_word.h"

namespace tracer::explain::rules {

namespace {

/// A place in a file, as a message names it.
struct Place {
  std::string path;
  std::size_t line = 0;
  std::size_t column = 0;  ///< 0: unknown
  std::string message;     ///< the line of the message that names it
};

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// Returns the number at `at`, after blanks and the characters `skipped`; 0 if there is none.
std::size_t number_after(const std::string& text, std::size_t at, std::string_view skipped) {
  at = std::min(text.find_first_not_of(skipped, at), text.size());
  return at < text.size() && is_digit(text[at]) ? number_at<std::size_t>(std::string_view(text).substr(at)).value_or(0)
                                                : 0;
}

/// Returns the number after the word `line`, as in `line 3`, `line: 3`, `[line  3]`; 0 if there is none.
std::size_t number_of_line(const std::string& text, std::size_t from = 0) {
  for (const std::string_view word : {"line ", "line: ", "Line ", "line=", "line:"}) {
    if (const std::size_t at = text.find(word, from); at != std::string::npos) {
      if (const std::size_t number = number_after(text, at + word.size(), " #:"); number != 0) {
        return number;
      }
    }
  }
  return 0;
}

/// Returns the place in the file that a line of the messages names as `name`: `name:3:5`, `name line 3`, `name", line
/// 3`, `name (3)`, `line 3 of name`.
Place place_named(const std::string& text, const std::string& name) {
  Place place;
  for (std::size_t at = text.find(name); at != std::string::npos && place.line == 0; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool is_whole = at == 0 || !(std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0 ||
                                       contains("_-.", text.substr(at - 1, 1)));
    if (!is_whole) {
      continue;
    }
    if (end < text.size() && contains(":(\"'[", text.substr(end, 1))) {
      place.line = number_after(text, end + 1, ":( ");
      const std::size_t colon = text.find(':', end + 1);
      place.column = place.line != 0 && colon != std::string::npos ? number_after(text, colon + 1, "") : 0;
    }
    constexpr std::size_t least_name = 3;  // a shorter one may be any word of a sentence
    if (place.line == 0 && (name.size() >= least_name || text.compare(end, 7, ": line ") == 0)) {
      place.line = number_of_line(text, end);
      place.line = place.line != 0 ? place.line : number_of_line(text.substr(0, at));
    }
  }
  return place;
}

/// True for a file whose mistakes are the program's own, not those of who set it up.
bool is_program_text(const Process& process, const std::string& path) {
  if (is_source_name(path) || path == process.executable()) {
    return true;
  }
  constexpr std::string_view interpreters =
      "sh bash dash zsh ksh busybox perl ruby node php lua tclsh awk mawk gawk sed";
  const std::string name = process.name();
  if (!is_listed(name, interpreters) && !name.starts_with("python")) {
    return false;
  }
  const auto words = process.words();
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return base_name(word) == base_name(path); });
}

/// True for lines that name a place that is no mistake in the file: `make: *** [Makefile:2: all] Error 1`, or a frame
/// of a stack, or the place of a test that failed.
bool is_mere_place(const std::string& line) {
  return contains(line, "] Error ") || contains(line, "  File \"") || contains(line, "    at ") ||
         contains(line, "\tat ") || contains(line, "arning: ") || contains(line, ":in `") ||
         line.starts_with("#   at ");
}

/// True for `bash: line 1: nosuch: command not found`, which may come from another machine.
bool is_of_shell(const std::string& line) {
  return line.starts_with("bash: line ") || line.starts_with("sh: line ") || line.starts_with("zsh: line ");
}

bool names_program_text(const Process& process, const std::vector<std::string>& files, const std::string& line) {
  return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
    return is_program_text(process, file) && is_named(base_name(file), line);
  });
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

/// Returns the files that the program has opened, the newest first, each once.
std::vector<std::string> files_read(const Process& process) {
  constexpr std::size_t max_files = 200;
  constexpr std::string_view of_system =
      "/etc/passwd /etc/group /etc/nsswitch.conf /etc/hosts /etc/resolv.conf /etc/localtime /etc/services "
      "/etc/protocols /etc/host.conf /etc/gai.conf /etc/ld.so.cache /etc/ssl/openssl.cnf";
  std::vector<std::string> files;
  std::set<std::string> seen;
  for (auto one = process.opened.rbegin(); one != process.opened.rend() && files.size() < max_files; ++one) {
    const bool is_its = one->order >= process.last_exec && !is_library_name(one->path) &&
                        !one->path.starts_with("/proc/") && !one->path.starts_with("/sys/") &&
                        !one->path.starts_with("/dev/") && !one->path.starts_with("/etc/ssl/certs/") &&
                        !one->path.starts_with("/etc/pam.d/") && !is_listed(one->path, of_system);
    if (is_its && seen.insert(one->path).second) {
      files.push_back(one->path);
    }
  }
  return files;
}

/// Returns the first place that the messages name in a file that the program has read.
Place named_place(const Case& facts, const std::vector<std::string>& messages, const std::vector<std::string>& files) {
  for (const std::string& message : messages) {
    if (is_mere_place(message) || names_program_text(facts.process, files, message)) {
      continue;
    }
    for (const std::string& file : files) {
      for (const std::string& name : {file, base_name(file)}) {
        Place place = place_named(message, name);
        if (place.line != 0 && ConfigurationText(facts.prober, file).size() != 0) {
          place.path = file;
          place.message = message;
          return place;
        }
      }
    }
  }
  return {};
}

/// Returns the place of `line 3` without a name: in the file that was read last, if its name is that of a configuration
/// file, or a message quotes that line.
Place place_without_name(const Case& facts, const std::vector<std::string>& messages,
                         const std::vector<std::string>& files) {
  for (const std::string& message : messages) {
    const bool is_of_program =
        is_mere_place(message) || is_of_shell(message) || names_program_text(facts.process, files, message);
    const std::size_t number = is_of_program ? 0 : number_of_line(message);
    if (number == 0) {
      continue;
    }
    for (const std::string& file : files) {
      if (is_program_text(facts.process, file)) {
        continue;
      }
      const ConfigurationText text(facts.prober, file);
      const std::string line = text.line(number);
      const std::size_t start = line.find_first_not_of(" \t");
      const bool is_quoted =
          start != std::string::npos && line.size() - start > 3 && contains(facts.messages, line.substr(start));
      if (text.size() >= number && (is_quoted || is_configuration_name(file))) {
        const std::size_t column = message.find("column ");
        return {file, number, column == std::string::npos ? 0 : number_after(message, column + 7, " "), message};
      }
    }
  }
  return {};
}

/// Returns the place of a word that the messages quote, in a configuration file that they call wrong without a line;
/// the line is 0 if the file has no such word.
Place quoted_place(const Case& facts, const std::vector<std::string>& messages, const std::vector<std::string>& files) {
  constexpr std::array<std::string_view, 7> complaints = {"contains errors", "nvalid",    "parse",    "yntax",
                                                          "alformed",        "JSONParse", "not valid"};
  for (const std::string& message : messages) {
    const bool complains = std::any_of(complaints.begin(), complaints.end(),
                                       [&](std::string_view words) { return contains(message, words); });
    const auto file = std::find_if(files.begin(), files.end(), [&](const std::string& one) {
      return complains && is_configuration_name(one) && is_named(base_name(one), message);
    });
    if (file == files.end() || is_mere_place(message)) {
      continue;
    }
    const ConfigurationText text(facts.prober, *file);
    for (const std::string& other : messages) {
      const std::string word = word_after(other, "\"", "\"");
      if (const std::size_t line = word.size() > 2 ? text.line_with_value(word) : 0; line != 0) {
        return {*file, line, 0, other};
      }
    }
    return {*file, 0, 0, message};
  }
  return {};
}

/// Returns the words in quotation marks, the last one first; those of two letters may be anything.
std::vector<std::string> quoted_words(const std::string& message) {
  constexpr std::string_view opening = "\"'`<";
  std::vector<std::string> words;
  for (std::size_t from = message.find_first_of(opening); from != std::string::npos;) {
    const std::size_t end = message.find_first_of(message[from] == '<' ? ">" : "\"'", from + 1);
    if (end == std::string::npos) {
      break;
    }
    if (end - from > 3) {
      words.insert(words.begin(), message.substr(from + 1, end - from - 1));
    }
    from = message.find_first_of(opening, end + 1);
  }
  return words;
}

/// Returns the place of a word that the program does not know, and quotes, in a configuration file that it has read.
Place place_of_unknown_word(const Case& facts, const std::vector<std::string>& messages,
                            const std::vector<std::string>& files) {
  constexpr std::array<std::string_view, 8> complaints = {"nknown ", "nable to find", "annot find", "ndefined",
                                                          "o such ", "nrecognized",   "nvalid ",    "not allowed"};
  for (const std::string& message : messages) {
    if (is_mere_place(message) || std::none_of(complaints.begin(), complaints.end(),
                                               [&](std::string_view words) { return contains(message, words); })) {
      continue;
    }
    for (const std::string& word : quoted_words(message)) {
      const auto file = std::find_if(files.begin(), files.end(), [&](const std::string& one) {
        return is_configuration_name(one) && ConfigurationText(facts.prober, one).line_with_value(word) != 0;
      });
      if (file != files.end()) {
        return {*file, ConfigurationText(facts.prober, *file).line_with_value(word), 0, message};
      }
    }
  }
  return {};
}

/// Returns where in the line the mistake is, counted from 0: the column of the message, or a word that it quotes.
std::size_t column_of(const Place& place, const std::string& line) {
  if (place.column != 0 && place.column <= line.size()) {
    return place.column - 1;
  }
  for (const char quote : {'"', '\'', '`'}) {
    const std::size_t from = place.message.find(quote);
    const std::size_t end = from == std::string::npos ? from : place.message.find_first_of("\"'", from + 1);
    const std::string word = end == std::string::npos ? std::string() : place.message.substr(from + 1, end - from - 1);
    if (const std::size_t at = word.empty() ? std::string::npos : line.find(word); at != std::string::npos) {
      return at;
    }
  }
  return std::min(line.find_first_not_of(" \t"), line.size());
}

std::optional<Finding> wrong_line(const Case& facts) {
  const std::vector<std::string> messages = lines_of(facts.messages);
  const std::vector<std::string> files = files_read(facts.process);
  Place place = named_place(facts, messages, files);
  if (place.line == 0) {
    place = place_without_name(facts, messages, files);
  }
  if (place.line == 0) {
    place = quoted_place(facts, messages, files);
  }
  if (place.path.empty()) {
    place = place_of_unknown_word(facts, messages, files);
  }
  if (place.path.empty()) {
    return std::nullopt;
  }
  const ConfigurationText text(facts.prober, place.path);
  place.line = std::min(place.line, text.size());  // the end of the file counts as a line to some parsers
  const std::size_t unfinished = place.line != 0 ? text.unfinished_before(place.line) : 0;
  const std::size_t shown = unfinished != 0 ? unfinished : std::min(place.line, text.size());
  const std::string line = text.line(shown);
  Finding finding;
  finding.cause =
      unfinished != 0   ? fmt::format("{}, line {}: it seems to lack its semicolon (the program stumbles at line {})",
                                      place.path, unfinished, place.line)
      : place.line == 0 ? place.path + " is not what the program understands"
                        : fmt::format("{}, line {} is not what the program understands", place.path, place.line);
  if (!line.empty()) {
    constexpr std::size_t max_shown = 100;
    const std::string number = std::to_string(shown);
    const std::size_t at = unfinished != 0 ? line.size() : column_of(place, line);
    std::string safe = without_secrets(line).substr(0, max_shown);
    const bool shows_place = safe.size() >= at && safe.compare(0, at, line, 0, at) == 0;
    std::replace(safe.begin(), safe.end(), '\t', ' ');
    finding.looked_at.push_back(number + " | " + safe);
    if (shows_place) {
      finding.looked_at.push_back(std::string(number.size(), ' ') + " | " + std::string(at, ' ') + '^');
    }
  }
  finding.remedy = unfinished != 0   ? fmt::format("end line {} with a semicolon", unfinished)
                   : place.line == 0 ? "correct " + place.path
                                     : fmt::format("correct line {} of {}", place.line, place.path);
  return finding;
}

constexpr std::string_view no_configuration_words =
    "o configuration file|o config file|onfiguration file not found|onfig file not found|ind configuration file|"
    "ind config file|ind a configuration file|ind a config file";

/// The program wants a configuration, and does not say where it has looked for one.
std::optional<Finding> no_configuration(const Case& facts) {
  std::vector<std::string> wanted;
  for (const Step& step : facts.process.steps) {
    const std::string name = base_name(step.path);
    const bool is_wanted = step.kind == Step::Kind::failure && step.order >= facts.process.last_exec &&
                           step.call.error == "ENOENT" && contains(name, facts.process.name()) &&
                           (is_configuration_name(step.path) || name.ends_with("rc") || name.ends_with("config"));
    if (is_wanted && std::find(wanted.begin(), wanted.end(), step.path) == wanted.end()) {
      wanted.push_back(step.path);
    }
  }
  if (wanted.empty()) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = "it has no configuration file: " + join_first(wanted) +
                  (wanted.size() == 1 ? " does not exist" : " do not exist");
  const auto own = std::find_if(wanted.begin(), wanted.end(), [](const auto& path) { return contains(path, "/."); });
  finding.remedy = "make " + shell_word(printable(own == wanted.end() ? wanted.front() : *own)) +
                   ", see the manual for what has to be in it";
  return finding;
}

constexpr Rule configuration_table[] = {
    {"no-configuration", 35, "", "", no_configuration_words, "", no_configuration},
    {"configuration-error", 28, "", "", "line|Line|:|nknown |nable to find", "", wrong_line},
};

}  // namespace

std::span<const Rule> configuration_rules() {
  return configuration_table;
}

}  // namespace tracer::explain::rules
