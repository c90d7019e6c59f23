#include "render/ltrace_emitter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>

#include "base/utf8.h"
#include "format/scalars.h"

namespace tracer::render {

using spec::Style;

namespace {

bool is_printable(unsigned char c) {
  return c >= ' ' && c <= '~';
}

/// Returns the length of the UTF-8 sequence at the start of `text`; 0 if there is none or it controls terminals (C1).
std::size_t size_of_visible(std::span<const std::byte> text) {
  const bool is_control = text.size() > 1 && text[0] == std::byte{0xc2} && text[1] < std::byte{0xa0};
  return is_control ? 0 : utf8_length(text);
}

/// Appends a float or double as printf(3) does for %f.
void append_fixed(TextBuffer& text, std::uint64_t bits, unsigned width) {
  const double value = width == sizeof(float)
                           ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                           : std::bit_cast<double>(bits);
  std::array<char, 400> digits{};  // 309 digits before the point, 6 after it
  const int size = std::snprintf(digits.data(), digits.size(), "%f", value);
  text.append(std::string_view(digits.data(), static_cast<std::size_t>(size)));
}

}  // namespace

void LtraceEmitter::resume(Progress progress) {
  TextEmitter::resume(progress);
  pending_ = progress.argument_pending;
  open_arrays_ = 0;
}

void LtraceEmitter::begin_call(std::string_view name) {
  reset();
  pending_ = false;
  open_arrays_ = 0;
  is_syscall_ = function_.empty();
  if (is_syscall_) {
    text().append(name);
    text().append("@SYS");
  } else {
    text().append(function_);
  }
  text().append('(');
}

void LtraceEmitter::begin_argument(std::string_view, std::string_view, std::uint64_t) {
  pending_ = true;
}

void LtraceEmitter::begin_pending_argument() {
  if (pending_) {
    pending_ = false;
    TextEmitter::begin_argument({}, {}, 0);
  }
}

void LtraceEmitter::end_arguments() {
  pending_ = false;
  text().append(") ");
  pad_to_column();
  text().append("= ");
}

/// Wide characters have a column each, whatever they are.
std::size_t LtraceEmitter::columns_of(std::string_view line) const {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  return line.size() - static_cast<std::size_t>(std::count_if(line.begin(), line.end(), continues));
}

void LtraceEmitter::begin_result(const CallResult& result) {
  TextEmitter::begin_result({});  // sets in_result_
  switch (result.kind) {
    case CallResult::Kind::value:
      return;
    case CallResult::Kind::unknown:
      text().append('?');
      return;
    case CallResult::Kind::nothing:
      text().append("<void>");
      return;
    case CallResult::Kind::error:
      if (is_syscall_) {
        text().decimal(result.value);
      } else {
        text().append(result.is_address ? "nil" : "-1");
      }
      return;
  }
}

void LtraceEmitter::begin_note(std::string_view, bool) {
  note_start_ = text().size();
}

void LtraceEmitter::end_note() {
  text().truncate(note_start_);
}

void LtraceEmitter::begin_struct() {
  begin_pending_argument();
  open("{ ");
}

void LtraceEmitter::begin_field(std::string_view, std::string_view) {
  separate();
}

void LtraceEmitter::begin_bare_field(std::string_view, std::string_view) {
  separate();
}

void LtraceEmitter::end_struct() {
  close(" }");
}

void LtraceEmitter::begin_array() {
  begin_pending_argument();
  open("[ ");
  ++open_arrays_;
  if (Elements* now = elements(); now != nullptr) {
    *now = {};
  }
}

void LtraceEmitter::begin_element(std::string_view index) {
  Elements* now = elements();
  if (now != nullptr && now->count++ == max_elements_ && now->cut_at == 0) {
    now->cut_at = text().size();
  }
  TextEmitter::begin_element(index);
}

void LtraceEmitter::more() {
  if (Elements* now = elements(); now != nullptr && now->cut_at == 0) {
    now->cut_at = text().size();
  } else if (now == nullptr) {
    separate();
    text().append("...");
  }
}

void LtraceEmitter::end_array() {
  if (const Elements* now = elements(); now != nullptr && now->cut_at != 0) {
    text().truncate(now->cut_at);
    text().append("...");
  }
  if (open_arrays_ > 0) {
    --open_arrays_;
  }
  close(" ]");
}

void LtraceEmitter::begin_parts() {
  begin_pending_argument();
  TextEmitter::begin_parts();
}

void LtraceEmitter::scalar(std::uint64_t bits, const spec::Type& type) {
  begin_pending_argument();
  switch (type.style) {
    case Style::address:
    case Style::code:
      address(RemoteAddr(bits));
      return;
    case Style::hex:
      text().hex(bits);
      return;
    case Style::octal:
      text().append('0');
      if (bits == 0) {
        text().append('0');
      } else {
        TextBuffer digits;
        digits.octal(bits);
        text().append(digits.view().substr(1));
      }
      return;
    case Style::floating:
      append_fixed(text(), bits, type.width);
      return;
    case Style::character:
      append_character(bits, type);
      return;
    case Style::fd:
    case Style::tgid:
    case Style::tid:
    case Style::pgid:
    case Style::uid:
    case Style::gid:
    case Style::time:
      format::append_number(text(), bits, Style::number, true);
      return;
    default:
      format::append_scalar(text(), bits, type, format::ConstantForm::abbreviate);
  }
}

void LtraceEmitter::constant(std::uint64_t bits, const spec::Type& type, Abi abi) {
  begin_pending_argument();
  const std::size_t start = text().size();
  format::append_constant(text(), tables_, type, bits, abi, format::ConstantForm::abbreviate);
  // ltrace shows a constant without a name as a bare number.
  if (const auto comment = text().view().substr(start).find(" /*"); comment != std::string_view::npos) {
    text().truncate(start + comment);
  }
}

void LtraceEmitter::append_character(std::uint64_t value, const spec::Type& type) {
  if (static_cast<std::int32_t>(value) == -1) {
    text().append("EOF");
    return;
  }
  // An int is a character of ctype.h(0P), or of wctype.h(0P) if it is none of a byte.
  const bool is_wide = type.width > 1 && (!type.is_signed || value > 0xff);
  std::array<std::byte, longest_utf8> bytes{static_cast<std::byte>(value)};
  const std::size_t size = is_wide ? utf8_encode(static_cast<std::uint32_t>(value), bytes) : 1;
  text().append('\'');
  append_escaped(std::span(bytes).first(size), is_wide);
  text().append('\'');
}

void LtraceEmitter::append_escaped(std::span<const std::byte> data, bool is_wide) {
  for (std::size_t at = 0; at < data.size(); ++at) {
    if (const std::size_t size = is_wide && shows_utf8_ ? size_of_visible(data.subspan(at)) : 0; size > 1) {
      text().append({reinterpret_cast<const char*>(data.data()) + at, size});
      at += size - 1;
      continue;
    }
    const auto c = static_cast<unsigned char>(data[at]);
    constexpr std::string_view special = "\a\b\t\n\v\f\r\\";
    constexpr std::string_view letters = "abtnvfr\\";
    if (c == 0) {
      text().append("\\0");
    } else if (const auto which = special.find(static_cast<char>(c)); which != std::string_view::npos) {
      text().append('\\');
      text().append(letters[which]);
    } else if (is_printable(c)) {
      text().append(static_cast<char>(c));
    } else {
      text().append('\\');
      for (const unsigned shift : {6U, 3U, 0U}) {
        text().append(static_cast<char>('0' + ((c >> shift) & 7U)));
      }
    }
  }
}

void LtraceEmitter::bytes(std::span<const std::byte> data, StringForm form) {
  begin_pending_argument();
  const bool ends_before_nul = form.text && !data.empty() && data.back() == std::byte{0};
  data = ends_before_nul ? data.first(data.size() - 1) : data;
  const std::string_view mark = form.unquoted ? "" : "\"";
  text().append(mark);
  append_escaped(data, form.utf8);
  text().append(mark);
  if (form.cut && !ends_before_nul) {
    text().append("...");
  }
}

void LtraceEmitter::address(RemoteAddr address) {
  begin_pending_argument();
  address.is_null() ? text().append("nil") : text().hex(address.value());
}

void LtraceEmitter::symbol(std::string_view name) {
  begin_pending_argument();
  text().append(name);
}

void LtraceEmitter::named(const SymbolicName& name, std::uint64_t, const spec::Type&) {
  begin_pending_argument();
  write(name);
}

void LtraceEmitter::named_bytes(const SymbolicName& name, std::span<const std::byte>) {
  begin_pending_argument();
  write(name);
}

}  // namespace tracer::render
