#include "fuzz_call.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/text_buffer.h"
#include "decoders/decoders.h"
#include "json_check.h"
#include "render/json_emitter.h"
#include "render/text_emitter.h"

namespace tracer::fuzz {
namespace {

constexpr std::size_t most_output = std::size_t{64} << 20;  // bytes of one call
constexpr std::size_t most_read = std::size_t{256} << 20;   // bytes that decoding one call may read

/// Memory that fails, ends and changes as it likes.
class HostileMemory final : public Memory {
 public:
  HostileMemory(Source& source, const spec::Tables& tables) : source_(source), tables_(tables) {
    temper_ = source.below(8);
  }

  std::size_t read(RemoteAddr address, std::span<std::byte> into) const override {
    read_ += into.size();
    if (address.is_null() || temper_ == 0 || (temper_ < 4 && source_.one_in(4))) {
      return 0;
    }
    const std::size_t count = temper_ < 5 && source_.one_in(3) ? source_.below(into.size() + 1) : into.size();
    fill(into.first(count));
    return count;
  }

  [[nodiscard]] std::size_t bytes_read() const { return read_; }

 private:
  void fill(std::span<std::byte> into) const {
    const std::size_t width = std::size_t{1} << source_.below(4);
    switch (source_.below(6)) {
      case 0:
        std::ranges::fill(into, std::byte{0});
        break;
      case 1:
        std::ranges::fill(into, std::byte{0xff});
        break;
      case 2:  // text, seldom with an end
        words(into, 1, [this] { return source_.one_in(200) ? 0 : 1 + source_.below(255); });
        break;
      case 3:  // small numbers: counts, lengths, families, keys
        words(into, width, [this] { return source_.below(40); });
        break;
      case 4:  // numbers that some description knows
        words(into, width, [this] { return tables_.constants[source_.below(tables_.constants.size())].value; });
        break;
      default:
        words(into, width, [this] { return source_.next(); });
    }
  }

  template <typename Make>
  void words(std::span<std::byte> into, std::size_t width, Make make) const {
    // Long regions repeat what stands at their start: random numbers are the slow part.
    constexpr std::size_t most_random = 512;
    for (std::size_t at = 0; at < into.size(); at += width) {
      const std::uint64_t word = make();
      std::memcpy(&into[at], &word, std::min(width, into.size() - at));
      if (at >= most_random) {
        for (std::size_t i = at + width; i < into.size(); ++i) {
          into[i] = into[i % most_random];
        }
        return;
      }
    }
  }

  Source& source_;
  const spec::Tables& tables_;
  std::uint64_t temper_ = 0;
  mutable std::size_t read_ = 0;
};

class SomeNames final : public decode::Names {
 public:
  decode::DescriptorName descriptor(std::int32_t, std::int32_t fd) override {
    return {(fd & 1) != 0 ? "/a path" : "", (fd & 2) != 0};
  }
  std::string_view process(std::int32_t, std::int32_t pid) override { return (pid & 1) != 0 ? "program" : ""; }
  std::string_view interface(std::uint32_t index) override { return (index & 1) != 0 ? "lo" : ""; }
  std::string_view current_directory(std::int32_t) override { return "/"; }
};

std::uint64_t argument(Source& source, const spec::Tables& tables) {
  switch (source.below(8)) {
    case 0:
      return 0;
    case 1:
      return ~std::uint64_t{0} - source.below(200);  // -1, AT_FDCWD
    case 2:
      return source.below(64);
    case 3:
      return source.below(1U << 20);
    case 4:
      return tables.constants[source.below(tables.constants.size())].value;
    case 5:
      return source.next();
    default:
      return 0x7f0000000000 + source.below(1U << 16);  // somewhere in memory
  }
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

struct CallFuzzer::Implementation {
  explicit Implementation(const spec::Tables& tables)
      : tables(tables),
        brief(tables, {}, names, decoders::all()),
        long_strings(tables, {.string_limit = 1000, .always_comment_unknown = true}, names, decoders::all()),
        state(brief.make_state()),
        long_state(long_strings.make_state()) {}

  const spec::Tables& tables;
  SomeNames names;
  decode::Decoder brief;
  decode::Decoder long_strings;
  std::unique_ptr<decode::CallState, void (*)(decode::CallState*)> state;
  std::unique_ptr<decode::CallState, void (*)(decode::CallState*)> long_state;
  TextBuffer text;
  TextBuffer json;

  /// Decodes the call with one emitter; `between` is what happens between enter and exit.
  static std::size_t decode(const decode::Decoder& decoder, decode::CallState& state, const decode::Entry& entry,
                            const decode::Outcome& outcome, decode::Depth depth, const HostileMemory& memory,
                            render::Emitter& out, bool with_exit) {
    decoder.enter(state, entry, depth, memory, out);
    if (with_exit) {
      decoder.exit(state, outcome, memory, out);
    }
    return memory.bytes_read();
  }
};

CallFuzzer::CallFuzzer(const spec::Tables& tables) : implementation_(std::make_unique<Implementation>(tables)) {}
CallFuzzer::~CallFuzzer() = default;

std::string_view CallFuzzer::text() const {
  return implementation_->text.view();
}

Complaint CallFuzzer::one_call(Source& source) {
  Implementation& own = *implementation_;
  decode::Entry entry;
  entry.tid = 1;
  entry.abi = static_cast<Abi>(source.below(abi_count));
  const auto numbers = own.tables.numbers[index_of(entry.abi)];
  entry.number = numbers.empty() || source.one_in(50) ? source.next() : numbers[source.below(numbers.size())].number;
  for (std::uint64_t& word : entry.args) {
    word = argument(source, own.tables);
    if (register_size(entry.abi) == 4) {
      word &= 0xffffffffU;
    }
  }
  entry.stack_pointer = argument(source, own.tables);
  const bool fails = source.one_in(3);
  const decode::Outcome outcome{
      .value = fails ? -static_cast<std::int64_t>(1 + source.below(600))
                     : static_cast<std::int64_t>(argument(source, own.tables)),
      .is_error = fails,
      .known = !source.one_in(20),
  };
  const decode::Depth depth{.abbreviate = source.one_in(2), .dereference = !source.one_in(8), .raw = source.one_in(16)};
  const bool with_exit = !source.one_in(10);  // else: killed in the call
  const bool cut_short = !source.one_in(4);
  const decode::Decoder& decoder = cut_short ? own.brief : own.long_strings;
  decode::CallState& state = cut_short ? *own.state : *own.long_state;

  own.text.clear();
  const render::TextOptions options{.hex = static_cast<render::HexStrings>(source.below(3)),
                                    .constants = static_cast<render::ConstantForm>(source.below(3)),
                                    .argument_names = source.one_in(4),
                                    .column = static_cast<unsigned>(source.below(60))};
  render::TextEmitter text(own.tables, own.text, options);
  const HostileMemory memory(source, own.tables);
  std::size_t read = Implementation::decode(decoder, state, entry, outcome, depth, memory, text, with_exit);
  if (!is_printable(own.text.view())) {
    return "A byte in the text is not printable";
  }

  own.json.clear();
  own.json.append('{');
  render::JsonEmitter json(own.tables, own.json);
  const HostileMemory other_memory(source, own.tables);
  read = std::max(read, Implementation::decode(decoder, state, entry, outcome, depth, other_memory, json, with_exit));
  own.json.append('}');
  if (with_exit && !is_json(own.json.view())) {
    return "Not JSON: " + std::string(own.json.view());
  }

  if (source.one_in(20)) {
    std::array<std::byte, 128> raw{};
    for (std::byte& byte : raw) {
      byte = static_cast<std::byte>(source.one_in(2) ? source.below(20) : source.next());
    }
    own.text.clear();
    text.reset();
    decoder.siginfo(std::span<const std::byte>(raw).first(source.below(raw.size() + 1)), entry.abi, 1, memory, text);
    if (!is_printable(own.text.view())) {
      return "A byte in the siginfo is not printable";
    }
  }
  if (std::max(own.text.size(), own.json.size()) > most_output) {
    return "Output without bound: " + std::to_string(std::max(own.text.size(), own.json.size())) + " bytes";
  }
  if (read > most_read) {
    return "Reads without bound: " + std::to_string(read) + " bytes";
  }
  return {};
}

}  // namespace tracer::fuzz
