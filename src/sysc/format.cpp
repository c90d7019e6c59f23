#include "sysc/format.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

#include "sysc/format_spacing.h"

namespace tracer::sysc {

namespace {

constexpr std::size_t widest_label = 44;  ///< a longer label does not widen the column
constexpr std::size_t widest_line = 110;

/// Counts characters; those in comments may have several bytes.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// The template serves const and non-const lines.
template <typename AnyLine>
auto* piece_at(AnyLine& line, Stop stop) {
  const auto found =
      std::find_if(line.pieces.begin(), line.pieces.end(), [&](const Piece& piece) { return piece.stop == stop; });
  const bool none = found == line.pieces.end() || (stop == Stop::label && !line.one_label);
  return none ? nullptr : &*found;
}

/// Returns the column of a piece within its line, without the indentation.
std::size_t column_of(const Line& line, const Piece* piece) {
  std::size_t column = 0;
  for (const auto& other : line.pieces) {
    column += other.space_before;
    if (&other == piece) {
      return column;
    }
    column += width_of(other.token.text);
  }
  return column;
}

/// Aligns the pieces at `stop` in each run of consecutive lines that have one.
void line_up(std::vector<Line>& lines, Stop stop) {
  const auto limit = stop == Stop::comment || stop == Stop::classes ? widest_line : widest_label;
  for (std::size_t first = 0; first < lines.size();) {
    auto end = first;
    std::size_t column = 0;
    while (end < lines.size() && piece_at(lines[end], stop) != nullptr && lines[end].depth == lines[first].depth &&
           (end == first || lines[end].blank_before == 0)) {
      const auto own = column_of(lines[end], piece_at(lines[end], stop));
      column = own <= limit ? std::max(column, own) : column;
      ++end;
    }
    for (auto i = first; i < end; ++i) {
      auto* piece = piece_at(lines[i], stop);
      const auto own = column_of(lines[i], piece);
      piece->space_before += static_cast<unsigned>(own < column ? column - own : 0);
    }
    first = std::max(end, first + 1);
  }
}

}  // namespace

std::optional<std::string> format(const Source& source, Diagnostics& diagnostics) {
  const auto tokens = tokenize(source, 0, diagnostics, true);
  if (diagnostics.has_errors()) {
    return std::nullopt;
  }
  auto lines = lay_out(tokens);
  for (const auto stop : all_stops) {
    line_up(lines, stop);
  }
  std::string out;
  std::unordered_map<std::size_t, std::size_t> columns;  // the column after each token, by its index
  std::size_t number = 0;
  for (const auto& line : lines) {
    if (line.blank_before > 0) {
      out += '\n';
    }
    std::size_t column = line.depth * 2;
    if (line.align_with != Line::none) {
      column = columns[line.align_with];
    }
    out.append(column, ' ');
    for (const auto& piece : line.pieces) {
      out.append(piece.space_before, ' ');
      out += piece.token.text;
      column += piece.space_before + width_of(piece.token.text);
      columns[number++] = column;
    }
    out += '\n';
  }
  return out;
}

std::string with_numbers_replaced(std::string text, std::uint32_t file, std::span<const Diagnostic> warnings) {
  std::vector<std::size_t> lines = {0};
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', end + 1)) {
    lines.push_back(end + 1);
  }
  std::map<std::size_t, std::string, std::greater<>> rows;  // from the last on, which moves no other
  for (const Diagnostic& warning : warnings) {
    if (warning.at.file == file && !warning.instead.empty()) {
      rows.emplace(lines.at(warning.at.line - 1) + warning.at.column - 1, warning.instead);
    }
  }
  for (const auto& [row, instead] : rows) {
    const auto number = text.find_first_not_of(" \t\r\n", text.find('=', row) + 1);
    const auto end = std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(number), text.end(),
                                      [](unsigned char c) { return std::isalnum(c) != 0; });
    if (end == text.end() || (*end != '@' && *end != ',')) {  // one number for all ABIs
      text.replace(number, static_cast<std::size_t>(end - text.begin()) - number, instead);
    }
  }
  return text;
}

}  // namespace tracer::sysc
