#include "fuzz_call.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/text_buffer.h"
#include "decode/budget.h"
#include "decoders/decoders.h"
#include "json_check.h"
#include "render/json_emitter.h"
#include "render/text_emitter.h"

namespace tracer::fuzz {
namespace {

/// -s of the two decoders.
constexpr std::uint32_t brief_strings = 32;
constexpr std::uint32_t long_strings = 1000;

/// What one value may write beyond the budget: a string of which every byte becomes an escape sequence, names.
constexpr std::size_t one_value = std::size_t{64} << 10;

/// Memory that fails, ends and changes between two reads as it likes. Of some calls, part of the memory stays what it
/// is: small numbers, so that counts and lengths hold what they promise.
class HostileMemory final : public trace::Memory {
 public:
  HostileMemory(Source& source, const spec::Tables& tables) : source_(source), tables_(tables) {
    temper_ = source.below(8);
    agreed_ = source.one_in(4);
    salt_ = source.next();
  }

  std::size_t read(RemoteAddr address, std::span<std::byte> into) const override {
    read_ += into.size();
    ++reads_;
    if (agreed_ && (address.value() & 0x10000) == 0) {
      return agreed(address, into);
    }
    if (address.is_null() || temper_ == 0 || (temper_ < 4 && source_.one_in(4))) {
      return 0;
    }
    const std::size_t count = temper_ < 5 && source_.one_in(3) ? source_.below(into.size() + 1) : into.size();
    fill(into.first(count));
    return count;
  }

  [[nodiscard]] std::size_t bytes_read() const { return read_; }
  [[nodiscard]] std::size_t reads() const { return reads_; }

 private:
  std::size_t agreed(RemoteAddr address, std::span<std::byte> into) const {
    for (std::size_t i = 0; i < into.size(); ++i) {
      const std::uint64_t here = address.value() + i;
      const std::uint64_t mixed = (here / 8 + salt_) * 0x9e3779b97f4a7c15U >> 40;
      into[i] = here % 8 == 0 ? static_cast<std::byte>(mixed & 0x1fU) : std::byte{0};
    }
    return into.size();
  }

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
        for (std::size_t done = at; done < into.size();) {
          const std::size_t count = std::min(done, into.size() - done);
          std::memcpy(&into[done], into.data(), count);
          done += count;
        }
        return;
      }
    }
  }

  Source& source_;
  const spec::Tables& tables_;
  std::uint64_t temper_ = 0;
  bool agreed_ = false;
  std::uint64_t salt_ = 0;
  mutable std::size_t read_ = 0;
  mutable std::size_t reads_ = 0;
};

class SomeDescriptors final : public names::DescriptorNames {
 public:
  names::DescriptorName descriptor(const names::Task&, std::int32_t fd) override {
    static const std::string long_path = '/' + std::string(4000, 'x');
    return {fd % 7 == 0 ? std::string_view(long_path) : (fd & 1) != 0 ? "/a path" : "", (fd & 2) != 0};
  }
  std::string_view current_directory(const names::Task&) override { return "/"; }
};

class SomeProcesses final : public names::ProcessNames {
 public:
  std::string_view process(const names::Task&, std::int32_t pid) override { return (pid & 1) != 0 ? "program" : ""; }
};

class SomeFacts final : public names::KernelFacts {
 public:
  std::string_view interface(std::uint32_t index) override { return (index & 1) != 0 ? "lo" : ""; }
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
        brief(tables, {.string_limit = brief_strings}, names, decoders::all()),
        lengthy(tables, {.string_limit = long_strings}, names, decoders::all()),
        state(brief.make_state()),
        long_state(lengthy.make_state()) {}

  const spec::Tables& tables;
  SomeDescriptors descriptors;
  SomeProcesses processes;
  SomeFacts facts;
  names::Names names{descriptors, processes, facts};
  decode::Decoder brief;
  decode::Decoder lengthy;
  std::unique_ptr<decode::CallState, void (*)(decode::CallState*)> state;
  std::unique_ptr<decode::CallState, void (*)(decode::CallState*)> long_state;
  TextBuffer text;
  TextBuffer json;

  /// Decodes the call with one emitter; `between` is what happens between enter and exit.
  static void decode(const decode::Decoder& decoder, decode::CallState& state, const decode::Entry& entry,
                     const decode::Outcome& outcome, decode::Depth depth, const HostileMemory& memory,
                     render::Emitter& out, bool with_exit) {
    decoder.enter(state, entry, depth, memory, out);
    if (with_exit) {
      decoder.exit(state, outcome, memory, out);
    }
  }
};

/// What a call with the given -s may cost.
Complaint excess(std::uint32_t string_limit, const TextBuffer& output, const HostileMemory& memory) {
  using decode::Budget;
  if (output.size() > Budget::most_written(string_limit) + one_value) {
    return "Output without bound: " + std::to_string(output.size()) + " bytes";
  }
  if (memory.bytes_read() > Budget::most_read(string_limit)) {
    return "Reads without bound: " + std::to_string(memory.bytes_read()) + " bytes";
  }
  if (memory.reads() > Budget::most_reads) {
    return "Reads without bound: " + std::to_string(memory.reads());
  }
  return {};
}

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
  const decode::Decoder& decoder = cut_short ? own.brief : own.lengthy;
  decode::CallState& state = cut_short ? *own.state : *own.long_state;

  own.text.clear();
  const render::TextOptions options{.hex = static_cast<render::HexStrings>(source.below(3)),
                                    .constants = static_cast<format::ConstantForm>(source.below(3)),
                                    .argument_names = source.one_in(4),
                                    .column = static_cast<unsigned>(source.below(60))};
  render::TextEmitter text(own.tables, own.text, options);
  const HostileMemory memory(source, own.tables);
  Implementation::decode(decoder, state, entry, outcome, depth, memory, text, with_exit);
  if (!is_printable(own.text.view())) {
    return "A byte in the text is not printable";
  }
  const std::uint32_t string_limit = cut_short ? brief_strings : long_strings;
  if (auto complaint = excess(string_limit, own.text, memory); !complaint.empty()) {
    return complaint;
  }

  own.json.clear();
  own.json.append('{');
  render::JsonEmitter json(own.tables, own.json);
  const HostileMemory other_memory(source, own.tables);
  Implementation::decode(decoder, state, entry, outcome, depth, other_memory, json, with_exit);
  own.json.append('}');
  if (with_exit && !is_json(own.json.view())) {
    return "Not JSON: " + std::string(own.json.view());
  }
  if (auto complaint = excess(string_limit, own.json, other_memory); !complaint.empty()) {
    return complaint;
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
  return {};
}

}  // namespace tracer::fuzz
