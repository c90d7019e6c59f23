#include "render/text_emitter.h"

#include <algorithm>

#include "render/error_names.h"
#include "render/escape.h"
#include "render/scalars.h"

namespace tracer::render {

void TextEmitter::reset() {
  first_argument_ = true;
  in_result_ = false;
  in_note_ = false;
  first_ = 1;
  spaced_ = 0;
}

void TextEmitter::begin_call(std::string_view name) {
  reset();
  text_->append(name);
  text_->append('(');
}

void TextEmitter::begin_argument(std::string_view name, std::string_view, std::uint64_t) {
  if (!first_argument_) {
    text_->append(", ");
  }
  first_argument_ = false;
  if (options_.argument_names && !name.empty()) {
    text_->append(name);
    text_->append('=');
  }
}

void TextEmitter::show_argument_name(std::string_view name) {
  if (!options_.argument_names) {
    text_->append(name);
    text_->append('=');
  }
}

void begin_result_column(TextBuffer& text, unsigned column) {
  text.append(") ");
  const auto line_end = text.view().rfind('\n');
  const auto line_start = line_end == std::string_view::npos ? 0 : line_end + 1;
  const auto written = text.size() - line_start;
  if (written < column) {
    text.append(column - written, ' ');
  }
  text.append("= ");
}

void TextEmitter::end_arguments() {
  begin_result_column(*text_, options_.column);
}

void TextEmitter::begin_result(const CallResult& result) {
  in_result_ = true;
  if (result.kind == CallResult::Kind::value) {
    return;
  }
  if (result.kind == CallResult::Kind::unknown) {
    text_->append('?');
    return;
  }
  const auto name = error_name(result.error);
  const auto words = error_text(result.error);
  text_->append(is_restart_code(result.error) ? "? " : "-1 ");
  if (name.empty()) {
    text_->append("(errno ");
    text_->decimal(std::int64_t{result.error});
    text_->append(')');
    return;
  }
  text_->append(name);
  text_->append(" (");
  if (words.empty()) {
    text_->append("Unknown error ");
    text_->decimal(std::int64_t{result.error});
  }
  text_->append(words);
  text_->append(')');
}

void TextEmitter::begin_note(std::string_view prefix) {
  in_note_ = true;
  note_start_ = text_->size();
  text_->append(" (");
  text_->append(prefix);
  note_content_ = text_->size();
}

void TextEmitter::end_note() {
  in_note_ = false;
  if (text_->size() == note_content_) {
    text_->truncate(note_start_);
  } else {
    text_->append(')');
  }
}

void TextEmitter::end_result() {
  in_result_ = false;
}

void TextEmitter::open(std::string_view bracket) {
  text_->append(bracket);
  first_ = first_ << 1 | 1;
  spaced_ <<= 1;
}

void TextEmitter::close(std::string_view bracket) {
  text_->append(bracket);
  first_ >>= 1;
  spaced_ >>= 1;
}

void TextEmitter::separate() {
  if ((first_ & 1) == 0) {
    text_->append((spaced_ & 1) != 0 ? " " : ", ");
  }
  first_ &= ~std::uint64_t{1};
}

void TextEmitter::begin_struct() {
  open("{");
}

void TextEmitter::begin_field(std::string_view name, std::string_view) {
  separate();
  if (!name.empty()) {
    text_->append(name);
    text_->append('=');
  }
}

void TextEmitter::end_struct() {
  close("}");
}

void TextEmitter::begin_array() {
  open("[");
}

void TextEmitter::begin_list() {
  open("[");
  spaced_ |= 1;
}

void TextEmitter::begin_element() {
  separate();
}

void TextEmitter::end_array() {
  close("]");
}

void TextEmitter::more() {
  separate();
  text_->append("...");
}

void TextEmitter::begin_parts() {
  open("");
}

void TextEmitter::begin_part(std::string_view name) {
  separate();
  if (!name.empty()) {
    text_->append(name);
    text_->append(' ');
  }
}

void TextEmitter::end_parts() {
  close("");
}

void TextEmitter::begin_target() {
  text_->append('[');
}

void TextEmitter::end_target() {
  text_->append(']');
}

void TextEmitter::scalar(std::uint64_t bits, const spec::Type& type) {
  if (in_result_ && !in_note_ && type.style == spec::Style::address) {
    text_->hex(bits);  // a result is never NULL but 0
    return;
  }
  spell_scalar(*text_, bits, type, in_result_ ? ConstantForm::abbreviate : options_.constants);
}

void TextEmitter::constant(std::uint64_t bits, const spec::Type& type, Abi abi) {
  spell_constant(*text_, tables_, type, bits, abi, in_result_ ? ConstantForm::abbreviate : options_.constants);
}

void TextEmitter::bytes(std::span<const std::byte> data, StringForm form) {
  const bool hex =
      form.hex || options_.hex == HexStrings::all || (options_.hex == HexStrings::non_ascii && !is_printable(data));
  if (!form.unquoted) {
    text_->append('"');
  }
  hex ? append_hex(*text_, data) : append_escaped(*text_, data);
  if (!form.unquoted) {
    text_->append('"');
  }
  if (form.cut) {
    text_->append("...");
  }
}

void TextEmitter::address(RemoteAddr address) {
  address.is_null() ? text_->append("NULL") : text_->hex(address.value());
}

void TextEmitter::named(std::string_view name, std::uint64_t bits, spec::Style style) {
  if (options_.constants == ConstantForm::abbreviate) {
    text_->append(name);
    return;
  }
  spell_number(*text_, bits, style, false);
  if (options_.constants == ConstantForm::verbose) {
    comment(name);
  }
}

void TextEmitter::comment(std::string_view text) {
  text_->append(" /* ");
  text_->append(text);
  text_->append(" */");
}

void TextEmitter::annotation(std::string_view text, std::string_view suffix) {
  text_->append('<');
  text_->append(text);
  text_->append('>');
  text_->append(suffix);
}

}  // namespace tracer::render
