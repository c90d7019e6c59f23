#include "sysc/parser.h"

#include <algorithm>
#include <filesystem>

#include "sysc/parse_items.h"
#include "sysc/token_stream.h"

namespace tracer::sysc {

namespace {

/// Parses lines of `NUMBER NAME [DESCRIPTION]`.
void parse_numbers(TokenStream& in, Abi abi, std::vector<ast::Number>& numbers) {
  while (!in.at_end()) {
    const Position line = in.position();
    ast::Number row{abi, static_cast<std::uint32_t>(in.expect_number("the number of a call")), {}, {}};
    const auto on_this_line = [&] { return !in.at_end() && in.position().line == line.line; };
    row.name = in.expect_name("the name of a call");
    row.description = on_this_line() ? in.expect_name("the name of a description") : row.name;
    if (on_this_line()) {
      in.unexpected("the end of the line");
    }
    numbers.push_back(std::move(row));
  }
}

void parse_number_file(const Source& source, TokenStream& in, Diagnostics& diagnostics, ast::Program& program) {
  const auto abi = std::find(abi_names.begin(), abi_names.end(), std::filesystem::path(source.path).stem().string());
  if (abi == abi_names.end()) {
    diagnostics.error(in.position(), "found a file that is not named for an ABI, expected x86_64.nr and the like");
    return;
  }
  try {
    parse_numbers(in, static_cast<Abi>(abi - abi_names.begin()), program.numbers);
  } catch (const SyntaxError&) {
    // The error was reported when it was thrown.
  }
}

void parse_description_file(TokenStream& in, ast::Program& program) {
  while (!in.at_end()) {
    const Position start = in.position();
    try {
      if (in.peek(1).kind == TokenKind::name && in.accept("attributes")) {
        parse_attributes(in, program.items);
      } else {
        program.items.push_back(parse_item(in));
      }
    } catch (const SyntaxError&) {
      if (in.position().line == start.line && in.position().column == start.column) {
        in.take();
      }
      in.skip_to_item();
    }
  }
}

}  // namespace

ast::Program parse(std::span<const Source> sources, Diagnostics& diagnostics) {
  ast::Program program;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    TokenStream in(tokenize(sources[i], static_cast<std::uint32_t>(i), diagnostics), diagnostics);
    if (std::filesystem::path(sources[i].path).extension() == ".nr") {
      parse_number_file(sources[i], in, diagnostics, program);
    } else {
      parse_description_file(in, program);
    }
  }
  return program;
}

}  // namespace tracer::sysc
