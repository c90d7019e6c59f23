// Questions about lines and lists of words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tracer::explain {

/// Whether `part`, if it is not empty, is somewhere in `text`.
bool contains(std::string_view text, std::string_view part);
/// Whether a file's name or path stands in `text` by itself, not as a part of another word or of a longer path:
/// `include` does not in "#include", nor "/etc" in "/etc/hosts".
bool is_named(std::string_view name, std::string_view text);
/// Without the lines that tell of something that a program can do without, or of no failure at all.
std::string without_remarks(const std::string& text);
/// Whether `word` is one of those in `list`, which has blanks between them.
bool is_listed(std::string_view word, std::string_view list);
/// The last line of `text` that is not empty, without its end.
std::string last_line(std::string_view text);
/// The line of `text` that holds `part`, without its end; empty if none does.
std::string line_with(const std::string& text, std::string_view part);
/// Without its end.
std::string first_line(const std::string& text);
/// A sentence that holds names of files, safe to print: control characters and what is not UTF-8 are `\33` and the
/// like.
std::string harmless(std::string_view sentence);
/// What stands before `part` in `line`, back to the last of `: ` or the line's begin.
std::string word_before(const std::string& line, std::string_view part);
/// What stands after `part`, up to one of `stops` or the line's end.
std::string word_after(const std::string& line, std::string_view part, std::string_view stops);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

}  // namespace tracer::explain
