#include "pipeline/exports/report/report.h"

#include <string_view>

// The assembler takes the files in as they are.
#define EMBED(name, file)                        \
  asm(".pushsection .rodata\n"                   \
      ".globl " #name ", " #name                 \
      "_end\n"                                   \
      ".hidden " #name ", " #name "_end\n" #name \
      ":\n"                                      \
      ".incbin \"" file "\"\n" #name             \
      "_end:\n"                                  \
      ".popsection\n")

EMBED(tracer_report_html, TRACER_REPORT "/report.html");
EMBED(tracer_report_css, TRACER_REPORT "/report.css");
EMBED(tracer_report_js, TRACER_REPORT "/report.js");

extern "C" {
extern const char tracer_report_html[];
extern const char tracer_report_html_end[];
extern const char tracer_report_css[];
extern const char tracer_report_css_end[];
extern const char tracer_report_js[];
extern const char tracer_report_js_end[];
}

namespace tracer::pipeline::exports::report {

namespace {

/// Where the data stands in report.html.
constexpr std::string_view place = "@DATA@";

/// Returns the page with the style and the script in it.
std::string page() {
  std::string text(tracer_report_html, tracer_report_html_end);
  const auto put = [&text](std::string_view name, std::string_view content) {
    text.replace(text.find(name), name.size(), content);
  };
  put("@CSS@", {tracer_report_css, static_cast<std::size_t>(tracer_report_css_end - tracer_report_css)});
  put("@JS@", {tracer_report_js, static_cast<std::size_t>(tracer_report_js_end - tracer_report_js)});
  return text;
}

}  // namespace

std::string start() {
  const std::string text = page();
  return text.substr(0, text.find(place));
}

std::string end() {
  const std::string text = page();
  return text.substr(text.find(place) + place.size());
}

}  // namespace tracer::pipeline::exports::report
