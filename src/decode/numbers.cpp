// Single numbers, and what they stand for.
#include <arpa/inet.h>

#include <array>
#include <limits>

#include "decode/customs.h"
#include "format/scalars.h"

namespace tracer::decode {

using spec::Style;
using spec::Type;

void NumberDecoder::annotate_descriptor(std::int64_t fd) const {
  if (fd >= 0 && fd <= std::numeric_limits<std::int32_t>::max()) {
    const auto name = session_.setting.names.descriptors.descriptor(session_.task(), static_cast<std::int32_t>(fd));
    if (!name.text.empty()) {
      out_.annotation(name.text, name.deleted ? "(deleted)" : "");
    }
    show_context(session_.setting.names.kernel.descriptor_context(session_.task(), static_cast<std::int32_t>(fd)));
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

/// The set of the names that an ioctl request has on the device behind its descriptor, if that shares numbers with
/// others.
spec::SetId NumberDecoder::requests_of_device(spec::SetId all, std::uint64_t request) const {
  for (spec::SetId set = session_.tables.sets[all].special; set != spec::none;
       set = session_.tables.sets[set].special) {
    if (format::constant_name(session_.tables, set, request & 0xffff'ffff, session_.abi).empty()) {
      continue;
    }
    const auto fd = static_cast<std::int32_t>(state_.entry.args.front());
    if (session_.setting.names.descriptors.device_class(session_.task(), fd) == session_.tables.sets[set].device) {
      return set;
    }
  }
  return all;
}

void NumberDecoder::emit_scalar(const Type& type, std::uint64_t bits) const {
  if (type.set != spec::none && session_.tables.sets[type.set].special != spec::none) {
    Type narrowed = type;
    narrowed.set = requests_of_device(type.set, bits);
    out_.constant(bits, narrowed, session_.abi);
    return;
  }
  if (type.set != spec::none) {
    out_.constant(bits, type, session_.abi);
    if (type.style == Style::dirfd) {
      annotate_directory(static_cast<std::int64_t>(bits));
    } else if (type.style == Style::fd) {
      annotate_descriptor(static_cast<std::int32_t>(bits));
    }
    return;
  }
  if (!format::is_signed_style(type.style)) {
    bits = format::cut(bits, session_.scalar_width(type), false);
  }
  const auto number = static_cast<std::int64_t>(bits);
  switch (type.style) {
    case Style::fd:
      out_.scalar(bits, type);
      annotate_descriptor(number);
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
      if (const auto name = session_.setting.names.kernel.interface(static_cast<std::uint32_t>(bits)); !name.empty()) {
        out_.named({"if_nametoindex(", name, ")"}, bits, type);
      } else {
        out_.scalar(bits, type);
      }
      return;
    case Style::code:
    case Style::handler: {
      out_.scalar(bits, type);
      // The handler of a system call shows as strace shows it.
      const bool named = type.style == Style::code || state_.entry.function != nullptr;
      if (const auto name = named && bits != 0
                                ? session_.setting.names.kernel.function(session_.task(), RemoteAddr(bits))
                                : std::string_view{};
          !name.empty()) {
        out_.annotation(name, {});
      }
      return;
    }
    case Style::port:
    case Style::inet4:
      network_number(type, bits);
      return;
    default:
      out_.scalar(bits, type);
      return;
  }
}

/// A port or an IPv4 address, whose bytes are in network order: `htons(80)`, `inet_addr("127.0.0.1")`.
void NumberDecoder::network_number(const Type& type, std::uint64_t bits) const {
  const auto raw = std::as_bytes(std::span(&bits, 1)).first(session_.scalar_width(type));  // on a little-endian machine
  if (type.style == spec::Style::inet4) {
    std::array<char, INET_ADDRSTRLEN> dotted{};
    inet_ntop(AF_INET, raw.data(), dotted.data(), dotted.size());
    out_.named_bytes({"inet_addr(", dotted.data(), ")"}, raw);
    return;
  }
  TextBuffer& text = state_.words;
  text.clear();
  text.append("htons(");
  text.decimal(std::uint64_t{ntohs(static_cast<std::uint16_t>(bits))});
  text.append(')');
  out_.named_bytes({text.view()}, raw);
}

}  // namespace tracer::decode
