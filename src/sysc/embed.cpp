#include "sysc/embed.h"

#include <filesystem>

namespace tracer::sysc {

namespace {

/// Writes one string literal for each line and escapes all characters that are special in C++.
void append_literals(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "01234567";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n\"\n\"";
    } else if (byte < ' ' || byte > '~' || c == '"' || c == '\\' || c == '?') {
      out += '\\';
      out += digits[byte >> 6];
      out += digits[byte >> 3 & 7];
      out += digits[byte & 7];
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

std::string embed_cpp(std::span<const Source> sources, const std::string& directory) {
  std::string out =
      "// Made by sysc.\n"
      "#include <string_view>\n"
      "#include \"sysc/builtin_sources.h\"\n\n"
      "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\n"
      "namespace {\n"
      "struct Text {\n  std::string_view path;\n  std::string_view text;\n};\n"
      "constexpr Text texts[] = {\n";
  for (const Source& source : sources) {
    out += "{\"" + std::filesystem::path(source.path).lexically_relative(directory).string() + "\", {\n";
    append_literals(out, source.text);
    out += ", " + std::to_string(source.text.size()) + "}},\n";  // the compiler counts long ones slowly
  }
  return out +
         "};\n"
         "}  // namespace\n\n"
         "std::vector<tracer::sysc::Source> tracer::sysc::builtin_sources() {\n"
         "  std::vector<Source> sources;\n"
         "  for (const Text& text : texts) {\n"
         "    sources.push_back({std::string(text.path), std::string(text.text)});\n"
         "  }\n"
         "  return sources;\n"
         "}\n";
}

}  // namespace tracer::sysc
