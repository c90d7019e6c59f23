#include "sysc/format_spacing.h"

#include <algorithm>

namespace tracer::sysc {

namespace {

bool any_of(const Token& token, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return token.is(word); });
}

/// Keywords with an operand. A bracket, `*` or `-` after them starts the operand.
bool is_prefix_word(const Token& token) {
  return any_of(token, {"if", "when", "by", "step", "note", "out", "inout", "max", "fill", "of", "as", "mask", "shift",
                        "redirect", "unpassed", "else", "or"});
}

bool is_encoding(const Token& token) {
  return any_of(token, {"_IO", "_IOR", "_IOW", "_IOWR"});
}

bool ends_operand(const Token& token) {
  switch (token.kind) {
    case TokenKind::name:
      return !is_prefix_word(token);
    case TokenKind::number:
    case TokenKind::string:
      return true;
    default:
      return any_of(token, {")", "]", "}", "?"});
  }
}

class LineMaker {
 public:
  explicit LineMaker(const std::vector<Token>& tokens) : tokens_(tokens) {}

  std::vector<Line> run() {
    for (here_ = 0; tokens_[here_].kind != TokenKind::end; ++here_) {
      const Token& token = tokens_[here_];
      if (token.first_on_line) {
        begin_line(token);
      }
      note_keyword(token);
      Piece piece{token, spaces(token), Stop::none};
      piece.stop = stop(token);
      if (lines_.back().pieces.empty()) {
        piece.space_before = 0;
        piece.stop = Stop::none;
      } else if (piece.stop == Stop::classes || piece.stop == Stop::comment) {
        piece.space_before = 2;
      }
      lines_.back().pieces.push_back(piece);
      track_brackets(token);
      if (token.kind != TokenKind::comment) {
        before_last_ = last_;
        last_ = &token;
      }
    }
    return std::move(lines_);
  }

 private:
  struct Bracket {
    char symbol;
    std::size_t token;
    Block block;
  };

  void begin_line(const Token& token) {
    Line line;
    if (!lines_.empty()) {
      line.blank_before = token.at.line > last_line_ + 1 && !lines_.back().pieces.back().token.is("{") ? 1 : 0;
    }
    line.depth = static_cast<unsigned>(
        std::count_if(brackets_.begin(), brackets_.end(), [](const Bracket& b) { return b.symbol == '{'; }));
    if (!brackets_.empty() && brackets_.back().symbol != '{') {
      line.align_with = brackets_.back().token;
    } else if (token.is("}")) {
      line.depth -= line.depth > 0 ? 1 : 0;
    } else if (continues_line(token)) {
      line.depth += 2;
    }
    labels_ = 0;
    last_line_ = token.at.line;
    lines_.push_back(std::move(line));
  }

  /// Returns whether the line continues the one before; `out:` would be a field of that name.
  [[nodiscard]] bool continues_line(const Token& token) const {
    return any_of(token, {"%", "%%", "->", "|", "&", "note", "if", "when"}) ||
           (any_of(token, {"out", "inout"}) && !next().is(":"));
  }

  [[nodiscard]] const Token& next() const { return tokens_[std::min(here_ + 1, tokens_.size() - 1)]; }
  [[nodiscard]] bool in_brackets() const { return !brackets_.empty() && brackets_.back().symbol != '{'; }
  [[nodiscard]] Block block() const { return brackets_.empty() ? Block::top : brackets_.back().block; }

  /// Remembers the contents of the next `{`.
  void note_keyword(const Token& token) {
    if (token.kind != TokenKind::name || next().is(":") || next().is("=")) {
      return;
    }
    if (any_of(token, {"struct", "union", "stream", "together"})) {
      next_block_ = Block::fields;
    } else if (any_of(token, {"enum", "flags", "mask"})) {
      next_block_ = Block::members;
    } else if (token.is("table")) {
      next_block_ = Block::table;
    } else if (token.is("ioctls")) {
      next_block_ = Block::ioctls;
    } else if (token.is("redirect")) {
      next_block_ = Block::table;
    } else if (token.is("by") && !(last_ != nullptr && last_->is("sized")) && next_block_ != Block::table) {
      next_block_ = Block::rows;
    } else if (token.is("show") || (token.is("if") && block() == Block::show)) {
      next_block_ = Block::show;
    } else if (token.is("library")) {
      next_block_ = Block::top;
    }
  }

  void track_brackets(const Token& token) {
    if (token.kind != TokenKind::symbol) {
      return;
    }
    if (token.is("{")) {
      brackets_.push_back({'{', here_, next_block_});
      next_block_ = Block::other;
    } else if (token.is("(") || token.is("[")) {
      brackets_.push_back({token.text[0], here_, block()});
    } else if (any_of(token, {")", "]", "}"}) && !brackets_.empty()) {
      brackets_.pop_back();
      next_block_ = token.is("}") ? Block::other : next_block_;
    }
  }

  /// Returns whether the token is between the parentheses of `_IOR(…)`.
  [[nodiscard]] bool in_encoding() const {
    return in_brackets() && brackets_.back().token > 0 && is_encoding(tokens_[brackets_.back().token - 1]);
  }

  /// Returns whether the `:` separates a type and its width. A `:` may also follow the name before a type.
  [[nodiscard]] bool is_width_colon() const {
    if (before_last_ == nullptr || last_ == nullptr) {
      return false;
    }
    if (last_->is(")") || in_encoding()) {
      return true;
    }
    return any_of(*before_last_, {":", "*", "->", "=", ".", "custom", "enum", "flags"}) && !last_->is("else");
  }

  /// Returns whether a label (`name:`) of a field starts here.
  [[nodiscard]] bool begins_field(const Token& token) const {
    return block() == Block::fields && !in_brackets() && token.kind == TokenKind::name && next().is(":") &&
           last_ != nullptr && (ends_operand(*last_) || last_->is("{"));
  }

  unsigned spaces(const Token& token) {
    if (last_ == nullptr) {
      return 0;
    }
    const Token& last = *last_;
    if (token.kind == TokenKind::comment) {
      return 2;
    }
    if (begins_field(token) && !any_of(last, {"{", "custom"}) && !is_prefix_word(last)) {
      return 2;
    }
    if (any_of(token, {",", ")", "]", "@", "."}) || any_of(last, {"(", "[", "@", ".", "^", "%", "%%"})) {
      return 0;
    }
    if (token.is(":")) {
      return is_width_colon() || block() == Block::show ? 1 : 0;
    }
    if (token.is("[")) {
      return 0;
    }
    if (token.is("(")) {
      return opens_row() || is_prefix_word(last) || !ends_operand(last) || last.is("}") ? (tight_after(last) ? 0 : 1)
                                                                                        : 0;
    }
    if (token.is("}") && last.is("{")) {
      return 0;
    }
    if (token.is("=") || last.is("=")) {
      return block() == Block::members ? 0 : 1;
    }
    if (token.is("<<") || last.is("<<") || (in_brackets() && (token.is("|") || last.is("|"))) ||
        ((block() == Block::table || block() == Block::members) && !in_brackets() && (token.is("|") || last.is("|"))) ||
        (block() == Block::members && !in_brackets() && (token.is("+") || last.is("+")))) {
      return 0;
    }
    return tight_after(last) ? 0 : 1;
  }

  /// Returns whether no space follows: after a unary `*` or `-`, and in a list of ABIs or of values by ABI.
  [[nodiscard]] bool tight_after(const Token& last) const {
    if (last.is(",")) {
      return block() == Block::members || (!in_brackets() && block() != Block::top);
    }
    return any_of(last, {"*", "-"}) && before_last_ != nullptr && (!ends_operand(*before_last_) || unary_);
  }

  /// Returns whether the `(` starts the parameters of a row.
  [[nodiscard]] bool opens_row() const {
    if (in_brackets() || last_ == nullptr) {
      return false;
    }
    if (block() == Block::rows) {
      return before_last_ == nullptr || !any_of(*before_last_, {"->", "note"});
    }
    return block() == Block::ioctls && !is_encoding(*last_);
  }

  Stop stop(const Token& token) {
    unary_ = any_of(token, {"*", "-"}) && last_ != nullptr && !ends_operand(*last_);
    if (token.kind == TokenKind::comment) {
      return Stop::comment;
    }
    if (in_brackets()) {
      return Stop::none;
    }
    // Blocks on one line are not aligned with others.
    const bool opened_here = !brackets_.empty() && tokens_[brackets_.back().token].at.line == token.at.line;
    if (token.is(":") && !is_width_colon() && (block() == Block::fields || block() == Block::table)) {
      ++labels_;
      lines_.back().one_label = labels_ == 1 && !opened_here;
    } else if (last_ != nullptr && last_->is(":") && lines_.back().one_label && labels_ == 1 && label_ends_) {
      label_ends_ = false;
      return Stop::label;
    }
    label_ends_ = token.is(":") && labels_ == 1 && !is_width_colon();
    if ((token.is("%") || token.is("%%")) && !(last_ != nullptr && after_class_)) {
      after_class_ = true;
      return Stop::classes;
    }
    after_class_ = after_class_ && (any_of(token, {"%", "%%"}) || (last_ != nullptr && any_of(*last_, {"%", "%%"})));
    if (token.is("=") && (block() == Block::top || (block() == Block::ioctls && !opened_here))) {
      return Stop::equals;
    }
    if (token.is("(") && opens_row() && !opened_here) {
      return Stop::params;
    }
    return token.is("as") && block() == Block::top && lines_.back().pieces.size() > 3 &&
                   lines_.back().pieces[0].token.is("type")
               ? Stop::style
               : Stop::none;
  }

  const std::vector<Token>& tokens_;
  std::vector<Line> lines_;
  std::vector<Bracket> brackets_;
  Block next_block_ = Block::other;
  std::size_t here_ = 0;
  std::uint32_t last_line_ = 0;
  const Token* last_ = nullptr;
  const Token* before_last_ = nullptr;
  unsigned labels_ = 0;
  bool label_ends_ = false;
  bool after_class_ = false;
  bool unary_ = false;
};

}  // namespace

std::vector<Line> lay_out(const std::vector<Token>& tokens) {
  return LineMaker(tokens).run();
}

}  // namespace tracer::sysc
