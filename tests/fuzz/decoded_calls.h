// Calls decoded to text, which must be printable, and to JSON, which must be valid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "decode/decoder.h"
#include "decoders/decoders.h"
#include "json_check.h"
#include "names/proc_names.h"
#include "render/json_emitter.h"
#include "render/text_emitter.h"
#include "spec/spec.h"

namespace tracer::fuzz {

class DecodedCalls {
 public:
  DecodedCalls() : proc_(wanted()) {}

  [[nodiscard]] std::uint64_t any_number(std::mt19937_64& random) const {
    const auto numbers = tables_.numbers[index_of(Abi::x86_64)];
    return numbers[random() % numbers.size()].number;
  }
  [[nodiscard]] const spec::Tables& tables() const { return tables_; }

  void decode(const decode::Entry& entry, const decode::Outcome& outcome, const trace::Memory& memory,
              std::uint64_t seed) {
    render::TextEmitter text(tables_, text_, {});
    text_.clear();
    run(entry, outcome, memory, text);
    const std::string_view line = text_.view();
    if (!std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; })) {
      fail("a byte that is not printable: " + std::string(line), seed);
    }
    text_.clear();
    text_.append('{');
    render::JsonEmitter json(tables_, text_);
    run(entry, outcome, memory, json);
    text_.append('}');
    if (!is_json(text_.view())) {
      fail("not JSON: " + std::string(text_.view()), seed);
    }
  }

 private:
  static names::NameOptions wanted() {
    names::NameOptions wanted;
    wanted.paths = wanted.sockets = wanted.devices = wanted.commands = true;
    return wanted;
  }

  [[noreturn]] static void fail(const std::string& what, std::uint64_t seed) {
    std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed), what.c_str());
    std::exit(1);
  }

  void run(const decode::Entry& entry, const decode::Outcome& outcome, const trace::Memory& memory,
           render::Emitter& out) {
    decoder_.enter(*state_, entry, {}, memory, out);
    decoder_.exit(*state_, outcome, memory, out);
  }

  spec::Tables tables_ = spec::builtin_tables();
  names::ProcNames proc_;
  names::Names names_ = proc_.names();
  decode::Decoder decoder_{tables_, {}, names_, decoders::all()};
  std::unique_ptr<decode::CallState, void (*)(decode::CallState*)> state_ = decoder_.make_state();
  TextBuffer text_;
};

}  // namespace tracer::fuzz
