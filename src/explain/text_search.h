// Searches lines and lists of words.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::explain {

/// True if `part` is not empty and `text` contains it.
bool contains(std::string_view text, std::string_view part);
/// True if `text` contains a file name or path that is not part of another word or of a longer path: "#include" does
/// not name `include`, and "/etc/hosts" does not name "/etc".
bool is_named(std::string_view name, std::string_view text);
/// True if the text says that something could not be read or found.
bool reports_inability(std::string_view text);
/// True for a line that reports a failure.
bool reports_error(std::string_view line);
/// Returns the lines of `text` that `keeps` is true for; each is given with its newline.
std::string lines_where(std::string_view text, const std::function<bool(std::string_view)>& keeps);
/// Removes lines of log messages that report no failure or only a warning.
std::string without_remarks(const std::string& text);
/// True for the name or path of a shared library: `libfoo.so`, `libfoo.so.1`; false for `redis.sock`.
bool is_library_name(std::string_view name);
/// True if `word` is in `list`, whose words are separated by blanks.
bool is_listed(std::string_view word, std::string_view list);
/// Removes the lines of source code that compilers and interpreters quote: above a line of carets, and below the place
/// in a traceback of Python.
std::string without_quoted_source(const std::string& text);
/// Returns the last line of `text` that is not empty, without its newline.
std::string last_line(std::string_view text);
/// Returns the first line of `text` that contains `part`, without its newline; empty if none does.
std::string line_with(const std::string& text, std::string_view part);
/// Returns the first line of `text`, without its newline.
std::string first_line(const std::string& text);
/// Escapes control characters and invalid UTF-8 in a sentence as `\33` and the like, so that it is safe to print.
std::string escape_unprintable(std::string_view sentence);
/// Returns the text of `line` before `part`, from the last `: ` or the start of the line.
std::string word_before(const std::string& line, std::string_view part);
/// Returns the text of `line` after `part`, up to one of the characters `stops` or the end of the line.
std::string word_after(const std::string& line, std::string_view part, std::string_view stops);
/// Returns the first four parts, and "…" if there are more, separated by commas.
std::string join_first(std::vector<std::string> parts);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

}  // namespace tracer::explain
