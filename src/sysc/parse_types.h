// The grammar of expressions and types.
#pragma once

#include "sysc/ast.h"
#include "sysc/token_stream.h"

namespace tracer::sysc {

/// Comparisons bind loosest, then `|`, `&`, `<<`, `+ -`, `*`.
ast::Expr parse_expr(TokenStream& in);
/// A constant's value: an expression of numbers only.
std::int64_t parse_value(TokenStream& in);
/// The same where a `|` stands between alternatives.
std::int64_t parse_alternative(TokenStream& in);
/// A value by ABI: `1`, `1@x86`, `1@x86,2@arm`, `1@i386,2`.
std::array<std::optional<std::int64_t>, abi_count> parse_values(TokenStream& in);
/// The list after `@`.
AbiMask parse_abis(TokenStream& in);
ast::Type parse_type(TokenStream& in);

}  // namespace tracer::sysc
