#include "pipeline/probe.h"

#include <algorithm>
#include <array>
#include <string>

#include "format/escape.h"
#include "format/floating.h"
#include "format/json_text.h"
#include "format/scalars.h"
#include "pipeline/stack.h"

namespace tracer::pipeline {

namespace {

struct Pointed {
  std::string text;
  bool cut = false;
};

/// Probes do not declare which arguments point to text: it is text if it is printable up to a NUL.
Pointed text_at(std::uint64_t address, const trace::Memory& memory, std::size_t limit) {
  std::array<std::byte, 256> buffer{};
  const auto read = std::span(buffer).first(
      memory.read(RemoteAddr(address), std::span(buffer).first(std::min(limit + 1, buffer.size()))));
  const auto end = std::find(read.begin(), read.end(), std::byte{0});
  const auto found = read.first(static_cast<std::size_t>(end - read.begin()));
  const bool cut = end == read.end();
  if (found.empty() || (cut && found.size() <= limit) || !format::is_printable(found)) {
    return {};
  }
  const auto shown = found.first(std::min(found.size(), limit));
  return {{reinterpret_cast<const char*>(shown.data()), shown.size()}, cut};
}

bool may_point(const trace::ProbeValue& value) {
  constexpr std::uint64_t lowest = 4096;
  return value.known && !value.is_floating && value.size >= 4 && value.bits >= lowest;
}

void append_value(TextBuffer& text, const trace::ProbeValue& value) {
  if (!value.known) {
    text.append('?');
  } else if (value.is_floating) {
    format::append_floating(text, value.bits, value.size == 4 ? 4 : 8);
  } else if (value.size == 8 && !value.is_signed) {
    format::append_number(text, value.bits, spec::Style::guess, true);
  } else if (value.is_signed) {
    text.decimal(static_cast<std::int64_t>(value.bits));
  } else {
    text.decimal(value.bits);
  }
}

}  // namespace

void append_probe(TextBuffer& text, const trace::ProbeHit& hit, const trace::Memory& memory, unsigned limit) {
  text.append(*hit.provider);
  text.append(':');
  text.append(*hit.name);
  text.append('@');
  text.append(*hit.module);
  text.append('(');
  bool first = true;
  for (const trace::ProbeValue& value : hit.arguments) {
    text.append(first ? "" : ", ");
    first = false;
    append_value(text, value);
    const Pointed pointed = may_point(value) ? text_at(value.bits, memory, limit) : Pointed{};
    if (!pointed.text.empty()) {
      text.append(" /* \"");
      format::append_escaped(text, std::as_bytes(std::span(pointed.text)));
      text.append(pointed.cut ? "\"... */" : "\" */");
    }
  }
  text.append(')');
}

void append_json_probe(TextBuffer& text, const trace::ProbeHit& hit, const trace::Memory& memory) {
  constexpr std::size_t longest = 200;
  text.append(",\"provider\":");
  format::append_json_string(text, *hit.provider);
  text.append(",\"name\":");
  format::append_json_string(text, *hit.name);
  text.append(",\"module\":");
  format::append_json_string(text, *hit.module);
  text.append(",\"args\":[");
  bool first = true;
  for (const trace::ProbeValue& value : hit.arguments) {
    text.append(first ? "{" : ",{");
    first = false;
    if (!value.known) {
      text.append("\"value\":null}");
      continue;
    }
    text.append("\"value\":");
    if (value.is_floating && format::is_finite(value.bits, value.size == 4 ? 4 : 8)) {
      format::append_floating(text, value.bits, value.size == 4 ? 4 : 8);
    } else if (value.is_floating) {
      text.append("null");
    } else if (value.is_signed) {
      format::append_json_integer(text, static_cast<std::int64_t>(value.bits));
    } else {
      format::append_json_integer(text, value.bits);
    }
    const Pointed pointed = may_point(value) ? text_at(value.bits, memory, longest) : Pointed{};
    if (!pointed.text.empty()) {
      text.append(",\"text\":");
      format::append_json_string(text, pointed.text);
    }
    text.append('}');
  }
  text.append(']');
}

}  // namespace tracer::pipeline
