// Requests of the device mapper, with the data that follow them. From linux/dm-ioctl.h.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "decoders/decoders.h"
#include "decoders/helpers.h"

namespace tracer::decoders {
namespace {

constexpr std::uint64_t dev_rename = 0x5;
constexpr std::uint64_t table_load = 0x9;
constexpr std::uint64_t target_message = 0xe;
constexpr std::uint64_t set_geometry = 0xf;

/// What a request says of itself.
struct Request {
  std::uint64_t number = 0;
  RemoteAddr address;
  std::uint64_t size = 0;     ///< with the data
  std::uint64_t start = 0;    ///< of the data
  std::uint64_t targets = 0;  ///< in the table
  bool is_whole = false;      ///< it is of a known version and large enough
};

std::optional<Request> read_request(const decode::CustomContext& context) {
  constexpr std::uint64_t least = 305;  // bytes of struct dm_ioctl up to the end of the names
  constexpr std::uint64_t known = 4;
  std::array<std::byte, least> head{};
  if (!context.copy(head)) {
    return std::nullopt;
  }
  Request request;
  request.number = context.argument("op").value_or(0) & 0xff;
  request.address = context.address();
  request.size = number_at(head, 12, 4);
  request.start = number_at(head, 16, 4);
  request.targets = number_at(head, 20, 4);
  request.is_whole = number_at(head, 0, 4) == known && request.size >= least;
  return request;
}

/// Whether data follow that the program gives, at the entry, or the kernel, at the exit.
bool has_data(const decode::CustomContext& context, const Request& request) {
  // DM_LIST_DEVICES, DM_DEV_WAIT, DM_TABLE_DEPS, DM_TABLE_STATUS, DM_LIST_VERSIONS
  static constexpr std::array<std::uint64_t, 5> answered = {0x2, 0x8, 0xb, 0xc, 0xd};
  static constexpr std::array given = {dev_rename, table_load, target_message, set_geometry};
  const auto with_data = context.outcome() != nullptr ? std::span<const std::uint64_t>(answered) : std::span(given);
  return request.is_whole && std::find(with_data.begin(), with_data.end(), request.number) != with_data.end() &&
         (request.number != table_load || request.targets != 0) &&
         (request.number != target_message || request.start != request.size);
}

/// Shows text that ends in a NUL, or where there is no more room.
void show_text(decode::CustomContext& context, std::string_view name, RemoteAddr address, std::uint64_t room) {
  auto& out = context.out();
  out.begin_field(name, "char");
  const auto limit = static_cast<std::uint64_t>(context.options().string_limit);
  std::vector<std::byte> raw(std::min(room, limit + 1));
  const std::span<const std::byte> there(raw.data(), context.memory().read(address, raw));
  const auto end = static_cast<std::size_t>(std::find(there.begin(), there.end(), std::byte{0}) - there.begin());
  if (end == there.size() && there.size() != raw.size()) {
    out.address(address);
    return;
  }
  render::StringForm form;
  form.cut = end == there.size() && room != 0;
  out.bytes(there.first(std::min<std::size_t>(end, limit)), form);
}

/// Shows what takes the place of data that would end behind the request.
bool is_misplaced(decode::CustomContext& context, const Request& request, std::uint64_t end, std::string_view what) {
  if (end <= request.size) {
    return false;
  }
  context.out().symbol("???");
  context.out().comment(what);
  return true;
}

void show_string(decode::CustomContext& context, const Request& request) {
  context.out().begin_element();
  if (!is_misplaced(context, request, request.start, "misplaced string")) {
    context.out().begin_struct();
    show_text(context, "string", request.address + request.start, request.size - request.start);
    context.out().end_struct();
  }
}

void show_message(decode::CustomContext& context, const Request& request) {
  std::array<std::byte, 8> sector{};
  auto& out = context.out();
  out.begin_element();
  const std::uint64_t text = request.start + sector.size();
  if (is_misplaced(context, request, text, "misplaced struct dm_target_msg")) {
    return;
  }
  if (context.memory().read(request.address + request.start, sector) != sector.size()) {
    out.address(request.address + request.start);
    return;
  }
  out.begin_struct();
  out.begin_field("sector", "u64");
  context.number(number_at(sector, 0, 8), spec::Style::number, 8, false);
  show_text(context, "message", request.address + text, request.size - text);
  out.end_struct();
}

void show_table(decode::CustomContext& context, const Request& request) {
  constexpr std::size_t spec_size = 40;
  constexpr std::size_t name_offset = 24;
  constexpr std::size_t name_size = 16;
  auto& out = context.out();
  std::uint64_t start = request.start;
  std::uint64_t next = spec_size + 1;
  for (std::uint64_t i = 0; i < request.targets; ++i) {
    if (!context.spend()) {
      out.more();
      return;
    }
    out.begin_element();
    // The next one begins behind this one and the end of its string.
    const std::uint64_t end = next <= spec_size ? request.size + 1 : start + spec_size;
    if (is_misplaced(context, request, end, "misplaced struct dm_target_spec")) {
      return;
    }
    const RemoteAddr address = request.address + start;
    std::array<std::byte, spec_size> spec{};
    if (context.memory().read(address, spec) != spec.size()) {
      out.address(address);
      return;
    }
    out.begin_struct();
    out.begin_field("sector_start", "u64");
    context.number(number_at(spec, 0, 8), spec::Style::number, 8, false);
    out.begin_field("length", "u64");
    context.number(number_at(spec, 8, 8), spec::Style::number, 8, false);
    out.begin_field("target_type", "char");
    const auto name = std::span<const std::byte>(spec).subspan(name_offset, name_size);
    const auto length = static_cast<std::size_t>(std::find(name.begin(), name.end(), std::byte{0}) - name.begin());
    render::StringForm form;
    form.cut = length == name_size;
    out.bytes(name.first(std::min(length, name_size - 1)), form);
    show_text(context, "string", address + spec_size, request.size - start - spec_size);
    out.end_struct();
    next = number_at(spec, 20, 4);
    start += next;
  }
}

void show_data(decode::CustomContext& context, const Request& request) {
  switch (request.number) {
    case dev_rename:
    case set_geometry:
      show_string(context, request);
      break;
    case target_message:
      show_message(context, request);
      break;
    case table_load:
      show_table(context, request);
      break;
    default:
      context.out().more();
  }
}

}  // namespace

/// Shows a request as the first element of an array whose other elements are its data.
bool dm_data(decode::CustomContext& context) {
  constexpr std::uint64_t size_end = 12;
  const auto request = read_request(context);
  if (!request || request->size < size_end) {
    return false;
  }
  auto& out = context.out();
  out.begin_array();
  out.begin_element();
  if (!context.described()) {
    out.address(context.address());
  } else if (has_data(context, *request)) {
    context.depth().abbreviate ? out.more() : show_data(context, *request);
  }
  out.end_array();
  return true;
}

}  // namespace tracer::decoders
