// Single numbers, and what they stand for.
#include <arpa/inet.h>
#include <endian.h>

#include <array>
#include <limits>

#include "decode/customs.h"
#include "format/scalars.h"

namespace tracer::decode {

using spec::Style;
using spec::Type;

void NumberDecoder::annotate(const names::DescriptorName& name) const {
  if (!name.text.empty()) {
    out_.annotation(name.text, name.deleted ? "(deleted)" : "");
  }
}

void NumberDecoder::annotate_descriptor(std::int64_t fd) const {
  if (session_.setting.annotates_descriptors && fd >= 0 && fd <= std::numeric_limits<std::int32_t>::max()) {
    const auto number = static_cast<std::int32_t>(fd);
    const names::Task task = session_.task();
    annotate(session_.setting.names.descriptors.descriptor(task, number));
    show_context(session_.setting.names.kernel.descriptor_context(task, number));
  }
}

void NumberDecoder::show_context(std::string_view context) const {
  if (!context.empty()) {
    out_.security_context(context);
  }
}

void NumberDecoder::annotate_directory(std::int64_t fd) const {
  state_.directory = static_cast<std::int32_t>(fd);
  if (state_.directory != current_directory) {
    annotate_descriptor(fd);
  } else if (const auto path = session_.setting.names.descriptors.current_directory(session_.task()); !path.empty()) {
    out_.annotation(path, {});
  }
}

void NumberDecoder::annotate_process(std::int64_t pid, bool group) const {
  if (pid <= 0 || pid > std::numeric_limits<std::int32_t>::max()) {
    return;
  }
  const auto number = static_cast<std::int32_t>(pid);
  if (const auto name = group ? std::string_view{} : session_.setting.names.processes.process(session_.task(), number);
      !name.empty()) {
    out_.annotation(name, {});
  }
  if (!group) {
    show_context(session_.setting.names.kernel.process_context(session_.task(), number));
  }
  if (const auto here = session_.setting.names.processes.process_here(session_.task(), number, group); here != 0) {
    TextBuffer& text = state_.words;
    text.clear();
    text.decimal(std::int64_t{here});
    text.append(" in strace's PID NS");
    out_.comment(text.view());
  }
}

void NumberDecoder::emit_wait_status(const Type& type, std::uint64_t bits) const {
  if (session_.setting.wait_status == nullptr) {
    out_.scalar(bits, type);
    return;
  }
  CustomValue value(values_, nullptr, Place::in_register(bits), 4, no_context);
  session_.setting.wait_status(value);
}

/// Where threads have segments, a description of one; elsewhere an address.
void NumberDecoder::emit_thread_area(const Type& type, std::uint64_t bits) const {
  if (session_.abi == Abi::i386 && bits != 0 && state_.depth.dereference && session_.setting.user_desc != nullptr) {
    constexpr std::uint64_t user_desc_size = 16;
    CustomValue value(values_, nullptr, Place::remote(RemoteAddr(bits)), user_desc_size, no_context);
    if (session_.setting.user_desc(value)) {
      return;
    }
  }
  out_.scalar(bits, type);
}

/// The set of the names that an ioctl request has with the driver behind its descriptor, if others share the number.
spec::SetId NumberDecoder::requests_of_driver(spec::SetId all, std::uint64_t request) const {
  const auto has = [&](spec::SetId set) {
    return !format::constant_name(session_.tables, set, request & 0xffff'ffff, session_.abi).empty();
  };
  spec::SetId first = session_.tables.sets[all].special;
  while (first != spec::none && !has(first)) {
    first = session_.tables.sets[first].special;
  }
  if (first == spec::none) {
    return all;
  }
  spec::SetId chosen = all;
  session_.find_driver([&](std::string_view driver) {
    for (spec::SetId set = first; set != spec::none && chosen == all; set = session_.tables.sets[set].special) {
      chosen = session_.tables.text(session_.tables.sets[set].driver) == driver && has(set) ? set : all;
    }
    return chosen != all;
  });
  return chosen;
}

void NumberDecoder::emit_meaning(const Type& type, std::uint64_t bits) const {
  if (type.index != spec::none && show_parts(type, bits)) {
    return;
  }
  switch (type.style) {
    case Style::network:
      return network_number(type, bits);
    case Style::bluetooth:
      return bluetooth_number(type, bits);
    case Style::commented:
    case Style::noted:
      return commented_number(type, bits);
    default:
      break;
  }
  if (type.set != spec::none) {
    return emit_constant(type, bits);
  }
  if (!format::is_signed_style(type.style)) {
    bits = format::cut(bits, session_.scalar_width(type), false);
  }
  const auto number = static_cast<std::int64_t>(bits);
  switch (type.style) {
    case Style::call_number:
      call_number(type, bits);
      return;
    case Style::fd:
      out_.scalar(bits, type);
      type.args.count != 0 ? descriptor_of_other(type, bits) : annotate_descriptor(number);
      return;
    case Style::dirfd:
      out_.scalar(bits, type);
      annotate_directory(number);
      return;
    case Style::tgid:
    case Style::tid:
    case Style::pgid:
      out_.scalar(bits, type);
      annotate_process(number, type.style == Style::pgid);
      return;
    case Style::wait_status:
      emit_wait_status(type, bits);
      return;
    case Style::tls:
      emit_thread_area(type, bits);
      return;
    case Style::ifindex:
      emit_interface(type, bits);
      return;
    case Style::code:
    case Style::handler:
      emit_code_address(type, bits);
      return;
    case Style::port:
    case Style::inet4:
      network_number(type, bits);
      return;
    default:
      out_.scalar(bits, type);
      return;
  }
}

/// A number that may have a name.
void NumberDecoder::emit_constant(const Type& type, std::uint64_t bits) const {
  if (session_.tables.sets[type.set].special != spec::none) {
    Type narrowed = type;
    narrowed.set = requests_of_driver(type.set, bits);
    out_.constant(bits, narrowed, session_.abi);
    return;
  }
  const auto has_name = [&] { return !format::constant_name(session_.tables, type.set, bits, session_.abi).empty(); };
  if (type.style == Style::dirfd && !has_name()) {
    Type unnamed = type;
    unnamed.set = spec::none;
    emit_scalar(unnamed, bits);
    return;
  }
  out_.constant(bits, type, session_.abi);
  if (type.style == Style::dirfd) {
    annotate_directory(static_cast<std::int64_t>(bits));
  } else if (type.style == Style::fd) {
    annotate_descriptor(static_cast<std::int32_t>(bits));
  } else if (type.style == Style::tgid && !has_name()) {
    annotate_process(static_cast<std::int32_t>(bits), false);
  }
}

void NumberDecoder::emit_interface(const Type& type, std::uint64_t bits) const {
  if (const auto name = session_.setting.names.kernel.interface(static_cast<std::uint32_t>(bits)); !name.empty()) {
    out_.named({"if_nametoindex(", name, ")"}, bits, type);
  } else {
    out_.scalar(bits, type);
  }
}

void NumberDecoder::emit_code_address(const Type& type, std::uint64_t bits) const {
  out_.scalar(bits, type);
  // The handler of a system call shows as strace shows it.
  const bool named = type.style == Style::code || state_.entry.function != nullptr;
  if (const auto name = named && bits != 0 ? session_.setting.names.kernel.function(session_.task(), RemoteAddr(bits))
                                           : std::string_view{};
      !name.empty()) {
    out_.annotation(name, {});
  }
}

/// The number of a call of the tracee's ABI: `__NR_write`.
void NumberDecoder::call_number(const Type& type, std::uint64_t bits) const {
  const auto* call = session_.tables.find(session_.abi, bits);
  call != nullptr ? out_.named({"__NR_", {}, session_.tables.text(call->name)}, bits, type) : out_.scalar(bits, type);
}

/// The descriptor of another process, which a parameter names: its pid, or a pidfd.
void NumberDecoder::descriptor_of_other(const Type& type, std::uint64_t bits) const {
  const auto& owner_name = session_.tables.exprs[session_.tables.expr_lists[type.args.first]];
  const auto owner = values_.evaluator().parameter_named(session_.tables.text(owner_name.a));
  const auto fd = static_cast<std::int32_t>(bits);
  if (!owner || fd < 0) {
    return;
  }
  auto& names = session_.setting.names.descriptors;
  const auto number = static_cast<std::int32_t>(owner->value);
  const bool is_pidfd = owner->type != nullptr && owner->type->style == Style::fd;
  annotate(is_pidfd ? names.descriptor_behind(session_.task(), number, fd)
                    : names.descriptor_of(session_.task(), number, fd));
}

bool NumberDecoder::append_parts(TextBuffer& text, const spec::Show& show, const Context& context) const {
  const spec::Tables& tables = session_.tables;
  const bool is_name = show.kind != spec::ShowKind::always;
  bool any = false;
  for (const spec::ShowPart& part : spec::Tables::slice(tables.show_parts, show.parts)) {
    if (!values_.evaluator().holds(part.condition, context)) {
      continue;
    }
    any = true;
    if (part.text != spec::none) {
      text.append(tables.text(part.text));
      continue;
    }
    const auto value = values_.evaluator().evaluate(part.value, context);
    if (!value) {
      return false;
    }
    const Type& its_type = tables.types[part.type];
    const auto form = is_name && !part.styled ? format::ConstantForm::abbreviate : out_.constant_form();
    const auto its_bits = static_cast<std::uint64_t>(*value);
    its_type.set != spec::none ? format::append_constant(text, tables, its_type, its_bits, session_.abi, form)
                               : format::append_scalar(text, its_bits, its_type, form);
  }
  return any;
}

/// A number in parts, as its description says. False, with nothing emitted, if none of them is to show.
bool NumberDecoder::show_parts(const Type& type, std::uint64_t bits) const {
  const spec::Show& show = session_.tables.shows[type.index];
  Context context = no_context;
  context.it = bits;
  TextBuffer text;
  if (!append_parts(text, show, context)) {
    return false;
  }
  switch (show.kind) {
    case spec::ShowKind::name:
      type.style == Style::commented ? number_and_name(bits, text.view()) : out_.named({text.view()}, bits, type);
      break;
    case spec::ShowKind::always:
      out_.symbol(text.view());
      break;
    case spec::ShowKind::comment:
      out_.scalar(bits, type);
      out_.comment(text.view());
      break;
  }
  return true;
}

/// `0x50001 /* 1..5 */`; under -X raw without the name.
void NumberDecoder::number_and_name(std::uint64_t bits, std::string_view name) const {
  constexpr unsigned width = 8;
  out_.scalar(bits, format::scalar_type(width, false, Style::hex));
  if (out_.constant_form() != format::ConstantForm::raw) {
    out_.comment(name);
  }
}

/// A number with its name behind it, even under -X abbrev: `0x1 /* PIDTYPE_TGID */`.
void NumberDecoder::commented_number(const Type& type, std::uint64_t bits) const {
  const bool is_raw = out_.constant_form() == format::ConstantForm::raw && type.style != Style::noted;
  TextBuffer& text = state_.words;
  text.clear();
  const auto form = is_raw ? format::ConstantForm::raw : format::ConstantForm::verbose;
  if (type.set != spec::none) {
    format::append_constant(text, session_.tables, type, bits, session_.abi, form);
  } else {  // parts of a number of which none shows
    Type plain = type;
    plain.style = Style::hex;
    format::append_scalar(text, bits, plain, form);
  }
  out_.symbol(text.view());
}

/// A constant in Bluetooth's byte order, that of all ABIs here: `htobs(L2CAP_PSM_SDP)`.
void NumberDecoder::bluetooth_number(const Type& type, std::uint64_t bits) const {
  TextBuffer& text = state_.words;
  text.clear();
  text.append("htobs(");
  append_constant_or_number(text, type, bits, out_.constant_form());
  text.append(')');
  out_.symbol(text.view());
}

void NumberDecoder::append_constant_or_number(TextBuffer& text, const Type& type, std::uint64_t bits,
                                              format::ConstantForm form) const {
  Type plain = type;
  plain.style = type.set != spec::none ? session_.tables.sets[type.set].fallback : Style::number;
  type.set != spec::none ? format::append_constant(text, session_.tables, plain, bits, session_.abi, form)
                         : format::append_scalar(text, bits, plain, form);
}

/// A port, an IPv4 address or another number whose bytes are in network order: `htons(80)`, `inet_addr("127.0.0.1")`,
/// `htonl(NFT_REG_1)`, `htobe64(5)`.
void NumberDecoder::network_number(const Type& type, std::uint64_t bits) const {
  const auto raw = std::as_bytes(std::span(&bits, 1)).first(session_.scalar_width(type));  // on a little-endian machine
  if (type.style == spec::Style::inet4) {
    std::array<char, INET_ADDRSTRLEN> dotted{};
    inet_ntop(AF_INET, raw.data(), dotted.data(), dotted.size());
    out_.named_bytes({"inet_addr(", dotted.data(), ")"}, raw);
    return;
  }
  constexpr unsigned half_word = 2;
  constexpr unsigned word = 4;
  TextBuffer& text = state_.words;
  text.clear();
  text.append(raw.size() == half_word ? "htons(" : raw.size() == word ? "htonl(" : "htobe64(");
  const std::uint64_t here = raw.size() == half_word ? be16toh(static_cast<std::uint16_t>(bits))
                             : raw.size() == word    ? be32toh(static_cast<std::uint32_t>(bits))
                                                     : be64toh(bits);
  append_constant_or_number(text, type, format::cut(here, static_cast<unsigned>(raw.size()), type.is_signed),
                            format::ConstantForm::abbreviate);
  text.append(')');
  out_.named_bytes({text.view()}, raw);
}

}  // namespace tracer::decode
