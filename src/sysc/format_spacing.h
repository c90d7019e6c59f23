// Computes the spaces between the tokens of a description.
#pragma once

#include <vector>

#include "sysc/lexer.h"

namespace tracer::sysc {

/// The contents of a `{`.
enum class Block : std::uint8_t { top, fields, members, table, rows, ioctls, show, other };

/// A column at which consecutive lines are aligned.
enum class Stop : std::uint8_t { none, label, equals, params, style, classes, comment };
inline constexpr Stop all_stops[] = {Stop::label, Stop::equals,  Stop::params,
                                     Stop::style, Stop::classes, Stop::comment};

struct Piece {
  Token token;
  unsigned space_before = 0;
  Stop stop = Stop::none;  ///< before this token
};

/// A line, with the brackets that are open at its start.
struct Line {
  std::vector<Piece> pieces;
  unsigned depth = 0;             ///< braces
  std::size_t align_with = none;  ///< index in the source of the earlier token that opened a `(` or `[`
  unsigned blank_before = 0;
  bool one_label = false;  ///< the line is one field or row, so its type may be aligned

  static constexpr std::size_t none = ~std::size_t{0};
};

std::vector<Line> lay_out(const std::vector<Token>& tokens);

}  // namespace tracer::sysc
