// Runs the cases of the files named and prints what is not as expected: run_cases FILE.case…
#include <algorithm>
#include <cstdio>
#include <exception>

#include "case_tracee.h"
#include "decoders/decoders.h"
#include "render/json_emitter.h"

namespace tracer::test {
namespace {

/// The custom decoders, each of which tells that it has been called for a value and could read it.
class WatchedCustoms {
 public:
  [[nodiscard]] static std::span<const decode::Custom> all() {
    static const auto watched = make(std::make_index_sequence<most>());
    return std::span(watched).first(decoders::all().size());
  }

  /// Says which were never called; how many.
  static std::size_t report_unreached() {
    std::size_t unreached = 0;
    for (std::size_t i = 0; i < decoders::all().size(); ++i) {
      if (!reached[i]) {
        std::printf("custom %s is in no case\n", std::string(decoders::all()[i].name).c_str());
        ++unreached;
      }
    }
    return unreached;
  }

 private:
  static constexpr std::size_t most = 128;
  static inline std::array<bool, most> reached{};

  template <std::size_t index>
  static bool call(decode::CustomContext& context) {
    const bool done = decoders::all()[index].function(context);
    reached[index] = reached[index] || done;
    return done;
  }

  template <std::size_t... indexes>
  static std::array<decode::Custom, most> make(std::index_sequence<indexes...>) {
    const auto customs = decoders::all();
    return {(indexes < customs.size() ? decode::Custom{customs[indexes].name, call<indexes>} : decode::Custom{})...};
  }
};

/// What stands at the end of the entry, and all of it.
struct Shown {
  std::string entered;
  std::string all;
};

template <typename MakeEmitter>
Shown show(const Case& c, Abi abi, const CaseTables& tables, MakeEmitter make_emitter) {
  FakeNames names(c.names, c.vcpu, c.namespaces);
  FakeMemory memory;
  memory.put(c.memory, abi);
  const decode::Decoder decoder(tables.view(), c.options, names.all(), WatchedCustoms::all());
  const auto state = decoder.make_state();
  for (const CallLine& earlier : c.before) {
    TextBuffer unseen;
    auto emitter = make_emitter(unseen);
    decoder.enter(*state, tables.entry(c, earlier, abi, memory), c.depth, memory, *emitter);
    decoder.exit(*state, {}, memory, *emitter);
  }
  TextBuffer text;
  auto emitter = make_emitter(text);
  decoder.enter(*state, tables.entry(c, c.call, abi, memory), c.depth, memory, *emitter);
  Shown shown;
  shown.entered = text.view();
  memory.put(c.changes, abi);
  decoder.exit(*state, c.outcome, memory, *emitter);
  shown.all = text.view();
  return shown;
}

bool expect(const std::string& place, const char* what, const std::optional<std::string>& wanted,
            const std::string& found) {
  if (!wanted || *wanted == found) {
    return true;
  }
  std::printf("%s: %s\n  expected  %s\n  found     %s\n", place.c_str(), what, wanted->c_str(), found.c_str());
  return false;
}

bool run(const Case& c, Abi abi, const CaseTables& tables, const std::string& path) {
  const auto place =
      path + ":" + std::to_string(c.line) + ": " + c.name + " (" + std::string(abi_names[index_of(abi)]) + ")";
  const auto text = show(c, abi, tables, [&](TextBuffer& buffer) {
    return std::make_unique<render::TextEmitter>(tables.view(), buffer, c.text_options);
  });
  const auto json = show(
      c, abi, tables, [&](TextBuffer& buffer) { return std::make_unique<render::JsonEmitter>(tables.view(), buffer); });
  const bool entered = expect(place, "at entry", c.entered, text.entered);
  const bool all = expect(place, "text", c.text, text.all);
  return expect(place, "JSON", c.json, json.all) && entered && all;
}

/// Every function that the built-in descriptions name has to be there.
bool has_all_customs() {
  FakeNames names(false);
  const decode::Decoder decoder(spec::builtin_tables(), {}, names.all(), decoders::all());
  const auto missing = decoder.missing_custom();
  if (!missing.empty()) {
    std::printf("custom %.*s has no function\n", static_cast<int>(missing.size()), missing.data());
  }
  return missing.empty();
}

std::size_t run_file(const std::string& path) {
  const auto file = read_case_file(path);
  const CaseTables tables(file, path);
  std::size_t failed = 0;
  for (const Case& c : file.cases) {
    const bool passed =
        std::count_if(c.abis.begin(), c.abis.end(), [&](Abi abi) { return !run(c, abi, tables, path); }) == 0;
    failed += passed ? 0 : 1;
  }
  std::printf("%s: %zu cases, %zu failed\n", path.c_str(), file.cases.size(), failed);
  return failed;
}

}  // namespace
}  // namespace tracer::test

// run_cases [--every-custom] FILE...: with the option, every custom decoder has to be in a case of these files.
int main(int argc, char** argv) {
  std::vector<std::string> files(argv + 1, argv + argc);
  const bool every_custom = !files.empty() && files.front() == "--every-custom";
  files.erase(files.begin(), files.begin() + (every_custom ? 1 : 0));
  std::size_t failed = tracer::test::has_all_customs() ? 0 : 1;
  for (const std::string& file : files) {
    try {
      failed += tracer::test::run_file(file);
    } catch (const std::exception& failure) {
      std::printf("%s\n", failure.what());
      ++failed;
    }
  }
  failed += every_custom ? tracer::test::WatchedCustoms::report_unreached() : 0;
  return failed == 0 ? 0 : 1;
}
