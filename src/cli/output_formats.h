// What --format can choose.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tracer::cli {

enum class OutputFormat : std::uint8_t { text, json, folded, tree, dot, chrome, perfetto, sqlite, pcapng, html };

struct OutputFormatRow {
  OutputFormat format = OutputFormat::text;
  std::string_view name;
  bool is_export = false;        ///< of a whole run, written to one file
  bool needs_file = false;       ///< it cannot be read on a terminal
  bool is_of_processes = false;  ///< what the processes are, and nothing of other calls
};

inline constexpr std::array<OutputFormatRow, 10> output_formats = {{
    {OutputFormat::text, "text"},
    {OutputFormat::json, "json"},
    {OutputFormat::folded, "folded"},
    {OutputFormat::tree, "tree", true, false, true},
    {OutputFormat::dot, "dot", true, false, true},
    {OutputFormat::chrome, "chrome", true, true},
    {OutputFormat::perfetto, "perfetto", true, true},
    {OutputFormat::sqlite, "sqlite", true, true},
    {OutputFormat::pcapng, "pcapng", true, true},
    {OutputFormat::html, "html", true, true},
}};

constexpr const OutputFormatRow& row_of(OutputFormat format) {
  for (const OutputFormatRow& row : output_formats) {
    if (row.format == format) {
      return row;
    }
  }
  return output_formats.front();
}

}  // namespace tracer::cli
