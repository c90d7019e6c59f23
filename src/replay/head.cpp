#include "replay/head.h"

#include <fmt/core.h>

#include "replay/varint.h"

namespace tracer::replay {
namespace {

/// Numbers of the file format: never change one, append new ones.
enum class Field : std::uint8_t {
  version = 1,
  tracer = 2,
  machine = 3,
  boot_id = 4,
  command = 5,
  program = 6,
  engine = 7,
  native = 8,
  page_size = 9,
  string_limit = 10,
  options = 11,
  definition = 12,
  started = 13,
};

// Bits of Field::options.
constexpr std::uint32_t attached = 1U << 0U;
constexpr std::uint32_t follows_forks = 1U << 1U;
constexpr std::uint32_t has_scope = 1U << 2U;
constexpr std::uint32_t stacks = 1U << 3U;
constexpr std::uint32_t sources = 1U << 4U;
constexpr std::uint32_t cpu_times = 1U << 5U;
constexpr std::uint32_t no_names = 1U << 6U;

class FieldWriter {
 public:
  void text(Field field, std::string_view value) {
    begin(field);
    out_.text(value);
  }
  void number(Field field, std::uint64_t value) {
    std::string payload;
    Encoder(payload).number(value);
    text(field, payload);
  }
  std::string take() { return std::move(block_); }

 private:
  void begin(Field field) { out_.number(static_cast<std::uint8_t>(field)); }

  std::string block_;
  Encoder out_{block_};
};

std::uint32_t options_of(const Head& head) {
  return (head.attached ? attached : 0U) | (head.follows_forks ? follows_forks : 0U) |
         (head.has_scope ? has_scope : 0U) | (head.stacks ? stacks : 0U) | (head.sources ? sources : 0U) |
         (head.cpu_times ? cpu_times : 0U) | (head.names ? 0U : no_names);
}

void take_options(Head& head, std::uint64_t bits) {
  head.attached = (bits & attached) != 0;
  head.follows_forks = (bits & follows_forks) != 0;
  head.has_scope = (bits & has_scope) != 0;
  head.stacks = (bits & stacks) != 0;
  head.sources = (bits & sources) != 0;
  head.cpu_times = (bits & cpu_times) != 0;
  head.names = (bits & no_names) == 0;
}

void take_field(Head& head, Field field, Cursor value) {
  switch (field) {
    case Field::version:
      break;
    case Field::tracer:
      head.tracer = value.rest();
      break;
    case Field::machine:
      head.machine = value.rest();
      break;
    case Field::boot_id:
      head.boot_id = value.rest();
      break;
    case Field::command:
      head.command.emplace_back(value.rest());
      break;
    case Field::program:
      head.program.emplace_back(value.rest());
      break;
    case Field::engine:
      head.engine = value.rest();
      break;
    case Field::native:
      head.native = static_cast<Abi>(value.number() % abi_count);
      break;
    case Field::page_size:
      head.page_size = value.number();
      break;
    case Field::string_limit:
      head.string_limit = value.as<std::uint32_t>();
      break;
    case Field::options:
      take_options(head, value.number());
      break;
    case Field::started:
      head.started = std::chrono::nanoseconds(static_cast<std::int64_t>(value.number()));
      break;
    case Field::definition: {
      const std::string_view name = value.text();
      head.definitions.emplace_back(name, value.text());
      break;
    }
  }
}

}  // namespace

std::string encode(const Head& head) {
  FieldWriter out;
  std::string version;
  Encoder(version).number(format_major);
  Encoder(version).number(format_minor);
  out.text(Field::version, version);
  out.text(Field::tracer, head.tracer);
  out.text(Field::machine, head.machine);
  out.text(Field::boot_id, head.boot_id);
  for (const std::string& word : head.command) {
    out.text(Field::command, word);
  }
  for (const std::string& word : head.program) {
    out.text(Field::program, word);
  }
  out.text(Field::engine, head.engine);
  out.number(Field::native, index_of(head.native));
  out.number(Field::page_size, head.page_size);
  out.number(Field::string_limit, head.string_limit);
  out.number(Field::options, options_of(head));
  out.number(Field::started, static_cast<std::uint64_t>(head.started.count()));
  for (const auto& [name, text] : head.definitions) {
    std::string definition;
    Encoder(definition).text(name);
    Encoder(definition).text(text);
    out.text(Field::definition, definition);
  }
  return out.take();
}

Result<Head> decode_head(std::string_view block) {
  Head head;
  Cursor fields(block);
  bool has_version = false;
  constexpr std::size_t most_fields = std::size_t{1} << 20U;  // execve takes fewer words
  std::size_t count = 0;
  while (!fields.at_end()) {
    if (++count > most_fields) {
      return Error{0, "its head is damaged"};
    }
    const std::uint64_t field = fields.number();
    Cursor value(fields.text());
    if (field == static_cast<std::uint64_t>(Field::version)) {
      const std::uint64_t major = value.number();
      has_version = true;
      if (major < oldest_major || major > format_major) {
        return Error{0, fmt::format("it has version {} of the format, and this program reads versions {} to {}", major,
                                    oldest_major, format_major)};
      }
    } else if (field <= static_cast<std::uint64_t>(Field::started) && field != 0) {
      take_field(head, static_cast<Field>(field), value);
    }
  }
  if (fields.failed() || !has_version) {
    return Error{0, "its head is damaged"};
  }
  return head;
}

}  // namespace tracer::replay
