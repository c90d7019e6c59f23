#include "cli/help.h"

#include <fmt/core.h>

#include "cli/option_table.h"
#include "cli/output_formats.h"

namespace tracer::cli {
namespace {

constexpr std::size_t help_column = 34;
constexpr std::size_t help_width = 100;

std::string long_form(const OptionRow& row, std::string_view before, std::string_view after) {
  const std::string argument = std::string(before) + std::string(row.placeholder) + std::string(after);
  std::string name = row.long_name.empty() ? std::string{} : "--" + std::string(row.long_name);
  switch (row.form) {
    case ArgumentForm::none:
      return name;
    case ArgumentForm::required:
      return name.empty() ? " " + argument : name + "=" + argument;
    case ArgumentForm::optional:
      return name + "[=" + argument + "]";
  }
  return name;
}

/// Returns `-s, --string-limit=SIZE`.
std::string form_of(const OptionRow& row) {
  const std::string name = long_form(row, "", "");
  if (row.letter == 0) {
    // A qualifier of -e may have no option of its own.
    return row.long_name.empty() ? "-e " + std::string(row.qualifiers) + "=" + std::string(row.placeholder)
                                 : "    " + name;
  }
  return std::string("-") + row.letter + (row.long_name.empty() ? "" : ", ") + name;
}

void append_wrapped(std::string& out, std::string_view text, std::size_t indent) {
  std::size_t column = indent;
  bool first = true;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!first && column + 1 + word.size() > help_width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    first = false;
  }
  out += '\n';
}

/// Escapes text for roff; hyphens become minus signs, which can be copied.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-') {
      out += "\\-";
    } else if (c == '\\') {
      out += "\\e";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string help_text(std::string_view program_name) {
  const std::string name(program_name);
  std::string out = "Usage: " + name + " [OPTIONS] COMMAND [ARGUMENTS]\n       " + name +
                    " [OPTIONS] -p PID[,PID]... [COMMAND [ARGUMENTS]]\n"
                    "Show the system calls that a program makes and the signals that it gets.\n";
  const OptionRow* before = nullptr;
  for (const OptionRow& row : option_rows()) {
    if (before == nullptr || before->group != row.group) {
      out += "\n" + std::string(heading_of(row.group)) + ":\n";
    }
    before = &row;
    std::string line = "  " + form_of(row);
    line += line.size() + 2 > help_column ? "\n" + std::string(help_column, ' ')
                                          : std::string(help_column - line.size(), ' ');
    out += line;
    append_wrapped(out, row.help, help_column);
  }
  out +=
      "\nSets are lists of names or numbers, `all` or `none`; `!` in front negates them.\n"
      "The long options that take SET are qualifiers too: --trace=SET is -e trace=SET.\n";
  return out;
}

std::string first_steps(std::string_view program_name) {
  return fmt::format(
      "{0} shows the system calls, library calls and signals of a program. Three things to try:\n"
      "  {0} -e trace=file ls     which files does it open?\n"
      "  {0} -c -f -p PID         which calls does a running process make, and how often?\n"
      "  {0} --explain make       why does it fail, or why does it hang?\n"
      "All options: {0} -h; the manual: man tracer.\n",
      program_name);
}

std::string version_text(unsigned asked, bool strict) {
  std::string text = strict ? "strace -- version 7.2\n"
                              "This is tracer " TRACER_VERSION
                              ", which takes the options of strace 7.2 and writes its text.\n"
                            : "tracer -- version " TRACER_VERSION
                              "\nA tracer of system calls and of functions of libraries for Linux.\n";
  text += "Engines: " TRACER_ENGINES ". Output: ";
  for (const OutputFormatRow& row : output_formats) {
    text += fmt::format("{}{}", row.format == output_formats.front().format ? "" : ", ", row.name);
  }
  text += fmt::format(".\nBuilt with " TRACER_LIBRARIES ", fmt {}.{}.{}.\n", FMT_VERSION / 10000,
                      FMT_VERSION / 100 % 100, FMT_VERSION % 100);
  // Many -V print a caterpillar, which grows with their number.
  constexpr unsigned patience = 5;
  constexpr unsigned longest = 100;
  if (asked > patience) {
    text += "\n  \\ /\n (o.o)\n";
    for (unsigned i = patience; i < std::min(asked, longest); ++i) {
      text += "-(   )-\n";
    }
    text += "  '-'\n";
  }
  return text;
}

std::string manual_options() {
  std::string out;
  const OptionRow* before = nullptr;
  for (const OptionRow& row : option_rows()) {
    if (before == nullptr || before->group != row.group) {
      out += ".SS " + std::string(heading_of(row.group)) + "\n";
    }
    before = &row;
    out += ".TP\n";
    const std::string argument = "\\fI" + escaped(row.placeholder) + "\\fP";
    std::string form;
    if (row.letter != 0) {
      form = std::string("\\fB\\-") + row.letter + "\\fP";
      if (row.form == ArgumentForm::required) {
        form += " " + argument;
      }
    } else if (row.long_name.empty()) {
      form = "\\fB\\-e " + std::string(row.qualifiers) + "=\\fP" + argument;
    }
    if (!row.long_name.empty()) {
      form += form.empty() ? "" : ", ";
      form += "\\fB\\-\\-" + escaped(row.long_name) + "\\fP";
      if (row.form == ArgumentForm::required) {
        form += "=" + argument;
      } else if (row.form == ArgumentForm::optional) {
        form += "[=" + argument + "]";
      }
    }
    out += form + "\n";
    std::string help = escaped(row.help);
    if (!help.empty() && help.front() >= 'a' && help.front() <= 'z') {
      help.front() = static_cast<char>(help.front() - 'a' + 'A');
    }
    out += help + (help.ends_with('.') ? "\n" : ".\n");
    if (!row.manual.empty()) {
      out += std::string(row.manual) + "\n";
    }
    if (!row.other_names.empty()) {
      out += "Also spelled\n";
      std::string_view names = row.other_names;
      while (!names.empty()) {
        const auto name = names.substr(0, names.find(' '));
        names.remove_prefix(std::min(names.size(), name.size() + 1));
        out += names.empty() ? ".BR \\-\\-" + escaped(name) + " .\n" : ".BR \\-\\-" + escaped(name) + " ,\n";
      }
    }
    if (!row.qualifiers.empty() && !row.long_name.empty()) {
      out += "The same as\n.BI \\-e\\ " + escaped(row.qualifiers.substr(0, row.qualifiers.find(' '))) + "= " +
             escaped(row.placeholder) + "\\fR.\n";
    }
  }
  return out;
}

}  // namespace tracer::cli
