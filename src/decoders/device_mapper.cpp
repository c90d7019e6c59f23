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

constexpr std::uint64_t list_devices = 0x2;
constexpr std::uint64_t dev_rename = 0x5;
constexpr std::uint64_t dev_wait = 0x8;
constexpr std::uint64_t table_load = 0x9;
constexpr std::uint64_t table_deps = 0xb;
constexpr std::uint64_t table_status = 0xc;
constexpr std::uint64_t list_versions = 0xd;
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
  const bool is_answer = context.outcome() != nullptr;
  if (!request.is_whole) {
    return false;
  }
  switch (request.number) {
    case list_devices:
    case table_deps:
    case list_versions:
      return is_answer && request.start != request.size;
    case dev_wait:
    case table_status:
      return is_answer && request.targets != 0;
    case table_load:
      return !is_answer && request.targets != 0;
    case target_message:
      return !is_answer && request.start != request.size;
    case dev_rename:
    case set_geometry:
      return !is_answer;
    default:
      return false;
  }
}

/// Shows text that ends in a NUL, or where there is no more room. Returns the length of what shows to its end.
std::optional<std::size_t> show_text(decode::CustomContext& context, std::string_view name, RemoteAddr address,
                                     std::uint64_t room) {
  auto& out = context.out();
  out.begin_field(name, "char");
  const auto limit = static_cast<std::uint64_t>(context.options().string_limit);
  std::vector<std::byte> raw(std::min(room, limit + 1));
  const std::span<const std::byte> there(raw.data(), context.memory().read(address, raw));
  const auto end = static_cast<std::size_t>(std::find(there.begin(), there.end(), std::byte{0}) - there.begin());
  if (end == there.size() && there.size() != raw.size()) {
    out.address(address);
    return std::nullopt;
  }
  render::StringForm form;
  form.cut = end == there.size() && room != 0;
  out.bytes(there.first(std::min<std::size_t>(end, limit)), form);
  return end == there.size() ? std::nullopt : std::optional(end);
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

void show_number(decode::CustomContext& context, std::string_view name, std::uint64_t value, unsigned width,
                 spec::Style style = spec::Style::number) {
  context.out().begin_field(name, width == sizeof(std::uint64_t) ? "u64" : "u32");
  context.number(value, style, width, false);
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
  show_number(context, "sector", number_at(sector, 0, 8), 8);
  show_text(context, "message", request.address + text, request.size - text);
  out.end_struct();
}

/// Copies the fixed part of a record of a list, which ends at `end`. Shows what stands in its place if it is misplaced
/// or cannot be read, and returns false.
bool begin_record(decode::CustomContext& context, const Request& request, std::uint64_t start, std::uint64_t end,
                  std::string_view misplaced, std::span<std::byte> record) {
  auto& out = context.out();
  if (!context.spend()) {
    out.more();
    return false;
  }
  out.begin_element();
  if (is_misplaced(context, request, end, misplaced)) {
    return false;
  }
  if (context.memory().read(request.address + start, record) != record.size()) {
    out.address(request.address + start);
    return false;
  }
  out.begin_struct();
  return true;
}

/// Shows the targets of a table: those of a program, or those of the kernel with their states.
void show_table(decode::CustomContext& context, const Request& request) {
  constexpr std::size_t spec_size = 40;
  constexpr std::size_t name_offset = 24;
  constexpr std::size_t name_size = 16;
  const bool is_answer = context.outcome() != nullptr;
  auto& out = context.out();
  std::uint64_t start = request.start;
  std::uint64_t end = start + spec_size;
  for (std::uint64_t i = 0; i < request.targets; ++i) {
    std::array<std::byte, spec_size> spec{};
    if (!begin_record(context, request, start, end, "misplaced struct dm_target_spec", spec)) {
      return;
    }
    show_number(context, "sector_start", number_at(spec, 0, 8), 8);
    show_number(context, "length", number_at(spec, 8, 8), 8);
    if (is_answer) {
      out.begin_field("status", "i32");
      const auto status = static_cast<std::int32_t>(number_at(spec, 16, 4));
      context.number(static_cast<std::uint64_t>(status), spec::Style::number, 4, true);
    }
    out.begin_field("target_type", "char");
    const auto name = std::span<const std::byte>(spec).subspan(name_offset, name_size);
    const auto length = static_cast<std::size_t>(std::find(name.begin(), name.end(), std::byte{0}) - name.begin());
    render::StringForm form;
    form.cut = length == name_size;
    out.bytes(name.first(std::min(length, name_size - 1)), form);
    show_text(context, "string", request.address + start + spec_size, request.size - start - spec_size);
    out.end_struct();
    // The next one begins behind this one and the end of its string. The kernel counts from the first one.
    const std::uint64_t next = (is_answer ? request.start : start) + number_at(spec, 20, 4);
    end = next <= start + spec_size ? request.size + 1 : next + spec_size;
    start = next;
  }
}

void show_devices(decode::CustomContext& context, RemoteAddr address, std::uint64_t count) {
  auto& out = context.out();
  std::array<std::byte, sizeof(std::uint64_t)> device{};
  const auto is_readable = [&] { return context.memory().read(address, device) == device.size(); };
  if (count != 0 && !is_readable()) {
    out.address(address);
    return;
  }
  out.begin_array();
  for (; count != 0; --count, address = address + device.size()) {
    if (!context.spend()) {
      out.more();
      break;
    }
    if (!is_readable()) {
      context.unreadable_rest(address);
      break;
    }
    out.begin_element();
    context.number(number_at(device, 0, 8), spec::Style::device, 8, false);
  }
  out.end_array();
}

void show_dependencies(decode::CustomContext& context, const Request& request) {
  constexpr std::size_t head_size = 8;
  constexpr std::string_view misplaced = "misplaced struct dm_target_deps";
  auto& out = context.out();
  std::array<std::byte, head_size> head{};
  const std::uint64_t first = request.start + head_size;
  // A count beyond the request is as wrong as a place beyond it.
  const bool is_there =
      first <= request.size && context.memory().read(request.address + request.start, head) == head_size;
  const std::uint64_t count = number_at(head, 0, 4);
  const std::uint64_t end = is_there ? first + count * sizeof(std::uint64_t) : first;
  if (!begin_record(context, request, request.start, end, misplaced, head)) {
    return;
  }
  show_number(context, "count", count, 4);
  out.begin_field("deps", "u64");
  show_devices(context, request.address + first, count);
  out.end_struct();
}

void show_device(decode::CustomContext& context, const Request& request, std::uint64_t start,
                 std::span<const std::byte> head, std::uint64_t step) {
  show_number(context, "dev", number_at(head, 0, 8), 8, spec::Style::device);
  constexpr std::uint64_t name_offset = 12;
  const auto length =
      show_text(context, "name", request.address + start + name_offset, request.size - start - name_offset);
  if (!length) {
    return;
  }
  // Behind the name the number of an event has a place of its own, if the record reaches there.
  constexpr std::uint64_t alignment = 8;
  std::array<std::byte, sizeof(std::uint32_t)> event{};
  const RemoteAddr record = request.address + start;
  const RemoteAddr at((record.value() + name_offset + *length + alignment) / alignment * alignment);
  if (at + event.size() <= record + step && context.memory().read(at, event) == event.size()) {
    show_number(context, "event_nr", number_at(event, 0, 4), 4);
  }
}

void show_version(decode::CustomContext& context, const Request& request, std::uint64_t start,
                  std::span<const std::byte> head, std::uint64_t) {
  auto& out = context.out();
  show_text(context, "name", request.address + start + head.size(), request.size - start - head.size());
  out.begin_field("version", "u32");
  out.begin_array();
  for (std::size_t at = sizeof(std::uint32_t); at < head.size(); at += sizeof(std::uint32_t)) {
    out.begin_element();
    context.number(number_at(head, at, 4), spec::Style::number, 4, false);
  }
  out.end_array();
}

/// Records of which each says how far the next one is; 0 is the end.
struct List {
  std::size_t name_offset = 0;  ///< a record ends here at the earliest; 16 bytes of it are always read
  std::size_t step_offset = 0;
  std::string_view misplaced;
  void (*show)(decode::CustomContext&, const Request&, std::uint64_t, std::span<const std::byte>,
               std::uint64_t) = nullptr;
};
constexpr List devices = {12, 8, "misplaced struct dm_name_list", show_device};
constexpr List versions = {16, 0, "misplaced struct dm_target_versions", show_version};

void show_list(decode::CustomContext& context, const Request& request, const List& list) {
  std::array<std::byte, 16> head{};
  std::uint64_t start = request.start;
  std::uint64_t end = start + list.name_offset;
  while (begin_record(context, request, start, end, list.misplaced, head)) {
    const std::uint64_t step = number_at(head, list.step_offset, 4);
    list.show(context, request, start, head, step);
    context.out().end_struct();
    if (step == 0) {
      return;
    }
    // The next one begins behind this one and at least the end of its name.
    end = step <= list.name_offset ? request.size + 1 : start + step + list.name_offset;
    start += step;
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
    case list_devices:
      show_list(context, request, devices);
      break;
    case list_versions:
      show_list(context, request, versions);
      break;
    case table_deps:
      show_dependencies(context, request);
      break;
    default:
      show_table(context, request);
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
