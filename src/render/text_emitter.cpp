#include "render/text_emitter.h"

#include "format/error_names.h"
#include "format/escape.h"
#include "format/scalars.h"

namespace tracer::render {

void TextEmitter::reset() {
  first_argument_ = true;
  in_result_ = false;
  in_note_ = false;
  depth_ = 0;
  first_ = 1;
  spaced_ = 0;
}

void TextEmitter::resume(Progress progress) {
  reset();
  first_argument_ = progress.first_argument;
  if (progress.in_struct) {
    depth_ = 1;
    first_ = 0b10;
  }
}

/// Writes `name=`.
void TextEmitter::write_name(std::string_view name) {
  write(Color::argname, name);
  write(Color::punct, "=");
}

void TextEmitter::begin_call(std::string_view name) {
  reset();
  write(Color::syscall, name);
  write(Color::punct, "(");
}

void TextEmitter::begin_argument(std::string_view name, std::string_view, std::uint64_t) {
  if (!first_argument_) {
    write(Color::punct, ", ");
  }
  first_argument_ = false;
  if (options_.argument_names && !name.empty()) {
    write_name(name);
  }
}

void TextEmitter::show_argument_name(std::string_view name) {
  if (!options_.argument_names) {
    write_name(name);
  }
}

void TextEmitter::end_arguments() {
  write(Color::punct, ")");
  text_->append(' ');
  pad_to_column();
  write(Color::punct, "=");
  text_->append(' ');
}

std::size_t TextEmitter::columns_of(std::string_view line) const {
  return options_.palette.paints() ? visible_width(line) : line.size();
}

void TextEmitter::pad_to_column() {
  const std::size_t written = columns_of(text_->view());
  if (written < options_.column) {
    text_->append(options_.column - written, ' ');
  }
}

void TextEmitter::begin_result(const CallResult& result) {
  in_result_ = true;
  if (result.kind == CallResult::Kind::value) {
    return;
  }
  if (result.kind == CallResult::Kind::unknown) {
    write(Color::retval, "?");
    return;
  }
  if (result.kind == CallResult::Kind::nothing) {
    text_->append("<void>");
    return;
  }
  in_color(Color::error, [&] { write_error(result); });
}

void TextEmitter::write_error(const CallResult& result) {
  const auto name = format::error_name(result.error);
  const bool restarts = format::is_restart_code(result.error);
  const auto words = restarts && result.raw ? std::string_view{} : format::error_text(result.error);
  text_->append(restarts && !result.raw ? "? " : result.is_address ? "NULL " : "-1 ");
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

void TextEmitter::begin_note(std::string_view prefix, bool styled) {
  in_note_ = true;
  note_styled_ = styled;
  note_start_ = text_->size();
  text_->append(" (");
  text_->append(prefix);
  note_content_ = text_->size();
}

void TextEmitter::end_note() {
  in_note_ = false;
  note_styled_ = false;
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
  write(Color::punct, bracket);
  ++depth_;
  first_ = first_ << 1 | 1;
  spaced_ <<= 1;
}

void TextEmitter::close(std::string_view bracket) {
  write(Color::punct, bracket);
  --depth_;
  first_ >>= 1;
  spaced_ >>= 1;
}

void TextEmitter::separate() {
  if ((first_ & 1) == 0) {
    write(Color::punct, (spaced_ & 1) != 0 ? " " : ", ");
  }
  first_ &= ~std::uint64_t{1};
}

void TextEmitter::begin_struct() {
  open("{");
}

void TextEmitter::begin_field(std::string_view name, std::string_view) {
  separate();
  if (!name.empty()) {
    write_name(name);
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

void TextEmitter::begin_element(std::string_view index) {
  separate();
  if (!index.empty()) {
    text_->append('[');
    text_->append(index);
    text_->append("]=");
  }
}

void TextEmitter::end_array() {
  close("]");
}

void TextEmitter::more() {
  separate();
  write(Color::punct, "...");
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
  write(Color::punct, "[");
}

void TextEmitter::end_target() {
  write(Color::punct, "]");
}

void TextEmitter::write_scalar(std::uint64_t bits, const spec::Type& type) {
  if (format::is_decimal(type)) {
    format::append_decimal(*text_, bits, type.is_signed);
  } else if (in_result_ && !in_note_ && type.style == spec::Style::address) {
    text_->hex(bits);  // strace shows 0 here, not NULL
  } else {
    format::append_styled(*text_, bits, type, form());
  }
}

void TextEmitter::scalar(std::uint64_t bits, const spec::Type& type) {
  if (options_.palette.paints()) {
    paint(value_color(), [this, bits, &type] { write_scalar(bits, type); });
  } else {
    write_scalar(bits, type);
  }
}

/// True in a note that would only name the result's value, under -X raw, which shows numbers only.
bool TextEmitter::omits_name() const {
  constexpr std::size_t bare = 2;  // ` (`
  return in_note_ && !note_styled_ && options_.constants == format::ConstantForm::raw && depth_ == 0 &&
         note_content_ - note_start_ == bare;
}

void TextEmitter::constant(std::uint64_t bits, const spec::Type& type, Abi abi) {
  if (omits_name() && tables_.sets[type.set].is_flags) {
    return;
  }
  in_color(Color::constant,
           [this, bits, &type, abi] { format::append_constant(*text_, tables_, type, bits, abi, form()); });
}

void TextEmitter::write_string(std::span<const std::byte> data, bool hex) {
  format::append_string(*text_, data, hex ? HexStrings::all : options_.hex);
}

void TextEmitter::write_bytes(std::span<const std::byte> data, StringForm form) {
  const bool ends_before_nul = form.text && options_.hex <= HexStrings::characters;
  const auto quote = [&] { form.unquoted ? void() : text_->append('"'); };
  quote();
  write_string(ends_before_nul ? data.first(data.size() - 1) : data, form.hex);
  quote();
  if (form.cut && !ends_before_nul) {
    text_->append("...");
  }
}

void TextEmitter::bytes(std::span<const std::byte> data, StringForm form) {
  if (options_.palette.paints()) {
    paint(value_color(), [this, data, form] { write_bytes(data, form); });
  } else {
    write_bytes(data, form);
  }
}

void TextEmitter::symbol(std::string_view text) {
  write(text.find('(') == std::string_view::npos ? value_color() : Color::call, text);
}

void TextEmitter::address(RemoteAddr address) {
  in_color(value_color(), [this, address] { address.is_null() ? text_->append("NULL") : text_->hex(address.value()); });
}

void TextEmitter::write(const SymbolicName& name) {
  text_->append(name.before);
  if (!name.quoted.empty()) {
    text_->append('"');
    write_string(std::as_bytes(std::span(name.quoted)), false);
    text_->append('"');
  }
  text_->append(name.after);
}

void TextEmitter::named(const SymbolicName& name, std::uint64_t bits, const spec::Type& number) {
  if (omits_name()) {
    return;
  }
  if (form() == format::ConstantForm::abbreviate) {
    in_color(Color::call, [&] { write(name); });
    return;
  }
  in_color(value_color(), [&] { format::append_number(*text_, bits, number.style, number.is_signed); });
  if (form() == format::ConstantForm::verbose) {
    in_color(Color::comment, [&] {
      text_->append(" /* ");
      write(name);
      text_->append(" */");
    });
  }
}

void TextEmitter::named_bytes(const SymbolicName& name, std::span<const std::byte> data) {
  if (form() == format::ConstantForm::abbreviate) {
    in_color(Color::call, [&] { write(name); });
    return;
  }
  in_color(value_color(), [&] {
    text_->append('"');
    write_string(data, true);
    text_->append('"');
  });
  if (form() == format::ConstantForm::verbose) {
    in_color(Color::comment, [&] {
      text_->append(" /* ");
      write(name);
      text_->append(" */");
    });
  }
}

void TextEmitter::comment(std::string_view text) {
  in_color(Color::comment, [this, text] {
    text_->append(" /* ");
    text_->append(text);
    text_->append(" */");
  });
}

void TextEmitter::annotation(std::string_view text, std::string_view suffix) {
  in_color(Color::comment, [&] {
    text_->append('<');
    text_->append(text);
    text_->append('>');
    text_->append(suffix);
  });
}

void TextEmitter::security_context(std::string_view text) {
  in_color(Color::comment, [this, text] {
    text_->append(" [");
    text_->append(text);
    text_->append(']');
  });
}

}  // namespace tracer::render
