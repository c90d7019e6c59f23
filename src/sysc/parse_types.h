// Parses expressions and types.
#pragma once

#include "sysc/ast.h"
#include "sysc/token_stream.h"

namespace tracer::sysc {

/// Precedence, lowest first: comparisons, `|`, `&`, `<< >>`, `+ -`, `* /`.
ast::Expr parse_expr(TokenStream& in);
/// Parses a constant's value, an expression that contains only numbers.
std::int64_t parse_value(TokenStream& in);
/// Parses a value where `|` separates alternatives.
std::int64_t parse_alternative(TokenStream& in);
/// Parses a value by ABI: `1`, `1@x86`, `1@x86,2@arm`, `1@i386,2`.
std::array<std::optional<std::int64_t>, abi_count> parse_values(TokenStream& in);
/// Parses the list after `@`.
AbiMask parse_abis(TokenStream& in);
ast::Type parse_type(TokenStream& in);
/// Parses what follows the word `show`: `{ … }`, `always { … }` or `comment { … }`.
ast::Box<ast::Show> parse_show(TokenStream& in);

}  // namespace tracer::sysc
