#include "render/json_emitter.h"

#include "base/require.h"
#include "format/error_names.h"
#include "format/floating.h"
#include "format/json_text.h"
#include "format/scalars.h"

namespace tracer::render {

void JsonEmitter::reset() {
  first_argument_ = true;
  depth_ = 0;
  levels_[0] = {};
}

void JsonEmitter::resume(Progress progress) {
  reset();
  first_argument_ = progress.first_argument;
  levels_[0].value_start = progress.value_start;
  levels_[0].first_start = progress.first_start;
  levels_[0].values = progress.values;
  raw_ = progress.raw;
}

void JsonEmitter::string(std::string_view text) {
  format::append_json_string(*text_, text);
}

void JsonEmitter::begin_slot() {
  Level& level = levels_[depth_];
  level.changing = false;
  level.values = 0;
  level.value_start = text_->size();
}

/// Precedes every value. Makes several values in one slot an array, so that the JSON stays valid.
void JsonEmitter::begin_value() {
  Level& level = levels_[depth_];
  if (++level.values == 1) {
    level.first_start = text_->size();
  } else {
    if (level.values == 2) {
      text_->insert(level.first_start, "[");
    }
    text_->append(',');
  }
  last_value_ = text_->size();
}

void JsonEmitter::end_values() {
  Level& level = levels_[depth_];
  if (level.values > 1) {
    text_->append(']');
  }
  level.values = 0;
}

void JsonEmitter::end_slot() {
  Level& level = levels_[depth_];
  end_values();
  if (text_->size() == level.value_start) {
    text_->append("null");
  }
  if (level.changing) {
    text_->append('}');
    level.changing = false;
  }
}

void JsonEmitter::next_slot() {
  Level& level = levels_[depth_];
  if (!level.first) {
    end_slot();
    text_->append(',');
  }
  level.first = false;
}

void JsonEmitter::open(char bracket, bool is_object) {
  require(depth_ + 1 < max_depth, "values nest no deeper than the decoder lets them");
  begin_value();
  const auto opened_at = text_->size();
  text_->append(bracket);
  levels_[++depth_] = {};
  levels_[depth_].opened_at = opened_at;
  levels_[depth_].is_object = is_object;
}

void JsonEmitter::close(char bracket) {
  if (!levels_[depth_].first) {
    end_slot();
  }
  last_value_ = levels_[depth_].opened_at;
  --depth_;
  text_->append(bracket);
}

void JsonEmitter::begin_call(std::string_view name) {
  reset();
  text_->append("\"name\":");
  string(name);
  text_->append(",\"args\":[");
}

void JsonEmitter::begin_argument(std::string_view name, std::string_view type, std::uint64_t raw) {
  if (!first_argument_) {
    text_->append(',');
  }
  first_argument_ = false;
  raw_ = raw;
  text_->append("{\"name\":");
  string(name);
  text_->append(",\"type\":");
  string(type);
  text_->append(",\"raw\":");
  format::append_json_integer(*text_, raw);
  text_->append(",\"value\":");
  begin_slot();
}

void JsonEmitter::end_argument() {
  end_slot();
  text_->append('}');
}

void JsonEmitter::end_unread_argument() {
  if (levels_[0].values == 0) {
    address(RemoteAddr(raw_));
  }
  end_argument();
}

void JsonEmitter::end_arguments() {
  text_->append("],");
}

void JsonEmitter::begin_result(const CallResult& result) {
  text_->append("\"ret\":");
  begin_slot();
  if (result.kind == CallResult::Kind::value) {
    return;
  }
  const bool failed = result.kind == CallResult::Kind::error;
  text_->append(failed && !result.is_address && !format::is_restart_code(result.error) ? "-1" : "null");
  if (failed) {
    text_->append(",\"errno\":");
    const auto name = format::error_name(result.error);
    name.empty() ? text_->decimal(std::int64_t{result.error}) : string(name);
  }
}

void JsonEmitter::begin_note(std::string_view, bool) {
  end_slot();
  note_start_ = text_->size();
  text_->append(",\"note\":");
  begin_slot();
}

void JsonEmitter::end_note() {
  if (text_->size() == levels_[0].value_start) {
    text_->truncate(note_start_);
    levels_[0].value_start = 0;  // the result is complete
    levels_[0].values = 0;
  }
}

void JsonEmitter::end_result() {
  end_slot();
}

void JsonEmitter::begin_struct() {
  open('{', true);
}

void JsonEmitter::begin_field(std::string_view name, std::string_view) {
  next_slot();
  string(name.empty() ? "value" : name);
  text_->append(':');
  begin_slot();
}

void JsonEmitter::end_struct() {
  close('}');
}

void JsonEmitter::begin_array() {
  open('[', false);
}

void JsonEmitter::begin_element(std::string_view /*index*/) {
  next_slot();
  begin_slot();
}

void JsonEmitter::end_array() {
  close(']');
}

void JsonEmitter::more() {
  next_slot();
  text_->append(levels_[depth_].is_object ? "\"...\":true" : "\"...\"");
}

void JsonEmitter::scalar(std::uint64_t bits, const spec::Type& type) {
  if (type.style == spec::Style::address || type.style == spec::Style::tls || type.style == spec::Style::code) {
    address(RemoteAddr(bits));
    return;
  }
  begin_value();
  if (format::is_plain_number(type.style)) {
    type.is_signed ? format::append_json_integer(*text_, static_cast<std::int64_t>(bits))
                   : format::append_json_integer(*text_, bits);
    return;
  }
  if (type.style == spec::Style::floating && format::is_finite(bits, type.width)) {
    format::append_floating(*text_, bits, type.width);
    return;
  }
  name_buffer_.clear();
  format::append_scalar(name_buffer_, bits, type, format::ConstantForm::abbreviate);
  string(name_buffer_.view());
}

void JsonEmitter::constant(std::uint64_t bits, const spec::Type& type, Abi abi) {
  begin_value();
  name_buffer_.clear();
  format::append_constant(name_buffer_, tables_, type, bits, abi, format::ConstantForm::abbreviate);
  string(name_buffer_.view());
}

void JsonEmitter::bytes(std::span<const std::byte> data, StringForm form) {
  begin_value();
  format::append_json_bytes(*text_, form.text ? data.first(data.size() - 1) : data, form.cut);
}

void JsonEmitter::address(RemoteAddr address) {
  begin_value();
  if (address.is_null()) {
    text_->append("null");
    return;
  }
  text_->append('"');
  text_->hex(address.value());
  text_->append('"');
}

void JsonEmitter::symbol(std::string_view text) {
  begin_value();
  string(text);
}

void JsonEmitter::append_name(const SymbolicName& name) {
  begin_value();
  name_buffer_.clear();
  name_buffer_.append(name.before);
  if (!name.quoted.empty()) {
    name_buffer_.append('"');
    name_buffer_.append(name.quoted);
    name_buffer_.append('"');
  }
  name_buffer_.append(name.after);
  string(name_buffer_.view());
}

void JsonEmitter::named(const SymbolicName& name, std::uint64_t, const spec::Type&) {
  append_name(name);
}

void JsonEmitter::named_bytes(const SymbolicName& name, std::span<const std::byte>) {
  append_name(name);
}

void JsonEmitter::wrap_last(std::string_view member, std::string_view text) {
  text_->insert(last_value_, "{\"value\":");
  text_->append(",\"");
  text_->append(member);
  text_->append("\":");
  string(text);
  text_->append('}');
}

void JsonEmitter::comment(std::string_view text) {
  wrap_last("comment", text);
}

void JsonEmitter::annotation(std::string_view text, std::string_view suffix) {
  wrap_last("name", text);
  if (!suffix.empty()) {
    text_->truncate(text_->size() - 1);
    text_->append(",\"deleted\":true}");
  }
}

void JsonEmitter::security_context(std::string_view text) {
  // Adds to the object that annotation() made for -y, if there is one.
  if (text_->view().substr(last_value_).starts_with("{\"value\":")) {
    text_->truncate(text_->size() - 1);
    text_->append(",\"secontext\":");
    string(text);
    text_->append('}');
  } else {
    wrap_last("secontext", text);
  }
}

void JsonEmitter::changed() {
  Level& level = levels_[depth_];
  end_values();
  text_->insert(level.value_start, "{\"before\":");
  text_->append(",\"after\":");
  level.changing = true;
}

}  // namespace tracer::render
