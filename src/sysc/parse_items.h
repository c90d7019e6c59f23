// Parses the items of a file.
#pragma once

#include "sysc/ast.h"
#include "sysc/token_stream.h"

namespace tracer::sysc {

/// Parses a type, set, struct, table, block of ioctls, library or call. Throws SyntaxError.
ast::Item parse_item(TokenStream& in);

/// Parses a family of netlink attributes, after the word `attributes`, and adds several items.
void parse_attributes(TokenStream& in, std::vector<ast::Item>& items);

ast::Set parse_set(TokenStream& in, bool is_flags);
ast::Struct parse_struct(TokenStream& in, spec::StructKind kind);
ast::Table parse_table(TokenStream& in);
ast::Call parse_call(TokenStream& in);
ast::Ioctls parse_ioctls(TokenStream& in);
ast::Library parse_library(TokenStream& in);

/// Parses an optional `(a, b)` after a name.
std::vector<ast::Name> parse_formal_params(TokenStream& in);

}  // namespace tracer::sysc
