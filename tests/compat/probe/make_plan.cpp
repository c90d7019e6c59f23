// Writes a plan of calls that vary everything the descriptions of an ABI speak of, and what each call is about.
// usage: make_plan x86_64|i386 PLAN INDEX [EVERY [NAME…]]      make_plan --constants x86_64|i386: names and values
// EVERY: only one scene of so many, and the first of each call. NAME: only these calls. INDEX has a line a scene: the
// call, what is varied.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "scene_builder.h"
#include "values.h"

namespace tracer::probe {
namespace {

constexpr unsigned most_scenes = 1000000;  // of one call: a bound for tables that multiply, which none reaches

struct Output {
  std::FILE* plan = nullptr;
  std::FILE* index = nullptr;
  unsigned every = 1;
  std::uint64_t counter = 0;
};

std::string in_hex(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%" PRIx64, value);
  return text;
}

/// Of a structure of so many bytes: how many of them are there.
std::vector<std::uint32_t> cuts(std::uint32_t whole) {
  std::vector<std::uint32_t> sizes{1};
  for (std::uint32_t size = 4; size < whole; size += size < 64 ? 4 : size < 256 ? 16 : 128) {
    sizes.push_back(size);
  }
  sizes.push_back(whole - 1);
  sizes.push_back(whole);
  return sizes;
}

/// What the scene has in memory there before the call.
std::vector<std::uint8_t> first_bytes(const Scene& scene, std::uint32_t address, std::uint32_t size) {
  std::vector<std::uint8_t> bytes(size);
  for (const Patch& patch : scene.patches) {
    for (std::size_t i = 0; i < patch.bytes.size() && !patch.at_exit; i++) {
      const std::uint64_t at = std::uint64_t{patch.address} + i - address;
      if (at < size) {
        bytes[at] = patch.bytes[i];
      }
    }
  }
  return bytes;
}

/// All scenes of one call.
class Prober {
 public:
  Prober(const spec::Tables& tables, Abi abi, Output& out, std::set<spec::SetId>& swept)
      : tables_(tables), abi_(abi), out_(out), swept_(swept) {}

  void probe(const spec::Call& call, std::uint32_t number) {
    call_ = &call;
    number_ = number;
    explore({}, 0);
  }

 private:
  void emit(const Scene& scene, const std::string& what) {
    if (scenes_++ >= most_scenes) {
      return;
    }
    // Evenly, but not in step with anything of the plan.
    const bool in_sample = (out_.counter++ * 0x9e3779b97f4a7c15U >> 32) % out_.every == 0;
    if (!in_sample && scenes_ != 1) {
      return;
    }
    write(out_.plan, scene);
    std::fprintf(out_.index, "%s\t%s\n", tables_.text(call_->name).data(), what.c_str());
  }

  /// The scenes of one way through all choices, then those ways that differ in one more choice.
  void explore(std::vector<unsigned> decisions, std::size_t first_open) {
    SceneBuilder builder(tables_, abi_, decisions);
    builder.build(*call_, number_);
    std::string path;
    for (const unsigned decision : decisions) {
      path += std::to_string(decision) + ' ';
    }
    vary(builder, path);
    for (std::size_t at = first_open; at < builder.choices().size() && at < 4; at++) {
      for (unsigned row = 1; row < builder.choices()[at]; row++) {
        std::vector<unsigned> other = decisions;
        other.resize(at + 1, 0);
        other[at] = row;
        explore(std::move(other), at + 1);
      }
    }
  }

  void vary(const SceneBuilder& builder, const std::string& path) {
    Scene base = builder.scene();
    const bool first = path.empty();
    for (const std::int64_t result : interesting_results) {
      if (!first && result != 0 && result != 4 && result != -14) {
        continue;
      }
      Scene scene = base;
      scene.result = result;
      emit(scene, path + "result " + std::to_string(result));
    }
    emit(base, path + "as built");
    for (const Background background :
         {Background::ascending, Background::ones, Background::zeros, Background::all_bits}) {
      if (!first && background == Background::zeros) {
        break;
      }
      emit(builder.bare(background), path + "memory pattern " + std::to_string(static_cast<unsigned>(background)));
    }
    for (const Leaf& leaf : builder.leaves()) {
      if (varied_.emplace(leaf.name, leaf.type).second) {
        vary(base, leaf, path);
      }
    }
  }

  /// What the pointer leads to, moved to the end of a page so that only its first bytes are there.
  void cut(const Scene& base, const Leaf& leaf, const std::string& path) {
    if (leaf.target_size == 0 || leaf.target_size >= page_size) {
      return;
    }
    for (const std::uint32_t size : cuts(leaf.target_size)) {
      const std::uint32_t start = leaf.target + page_size - size;
      Scene scene = base;
      scene.patches.push_back({start, first_bytes(base, leaf.target, size), false});
      store(scene, leaf.place, start);
      for (const std::int64_t result : {0, 4, -22}) {
        scene.result = result;
        emit(scene, path + leaf.name + " cut after " + std::to_string(size) + " of " +
                        std::to_string(leaf.target_size) + ", result " + std::to_string(result));
      }
    }
  }

  void vary(const Scene& base, const Leaf& leaf, const std::string& path) {
    const spec::Type& type = tables_.types[leaf.type];
    const bool sweep = type.set != spec::none && swept_.insert(type.set).second;
    for (const std::uint64_t value : interesting_values(tables_, abi_, leaf, sweep)) {
      Scene scene = base;
      store(scene, leaf.place, value);
      emit(scene, path + leaf.name + "=" + in_hex(value));
      if (type.kind == spec::TypeKind::pointer) {
        scene.result = -22;
        emit(scene, path + leaf.name + "=" + in_hex(value) + " and an error");
      }
    }
    cut(base, leaf, path);
    if (!leaf.place.in_memory && !leaf.place.high && type.kind == spec::TypeKind::scalar) {
      // A length that is one too short or too long.
      for (const std::uint64_t value : {base.args[leaf.place.at] - 1, base.args[leaf.place.at] + 1}) {
        Scene scene = base;
        store(scene, leaf.place, value);
        emit(scene, path + leaf.name + "=" + in_hex(value));
      }
    }
    if (leaf.changes) {
      Scene scene = base;
      store(scene, leaf.place, usual_value(tables_, abi_, type) + 1, true);
      emit(scene, path + leaf.name + " changes");
    }
  }

  const spec::Tables& tables_;
  Abi abi_;
  Output& out_;
  std::set<spec::SetId>& swept_;
  const spec::Call* call_ = nullptr;
  std::uint32_t number_ = 0;
  unsigned scenes_ = 0;
  std::set<std::pair<std::string, spec::TypeId>> varied_;
};

int run(int argc, char** argv) {
  Abi abi = Abi::x86_64;
  if (argc >= 2 && std::strcmp(argv[1], "i386") == 0) {
    abi = Abi::i386;
  } else if (argc < 4 || std::strcmp(argv[1], "x86_64") != 0) {
    return 2;
  }
  Output out{std::fopen(argv[2], "wb"), std::fopen(argv[3], "w"), 1, 0};
  if (out.plan == nullptr || out.index == nullptr) {
    std::perror("make_plan");
    return 1;
  }
  if (argc > 4) {
    out.every = std::max(1U, static_cast<unsigned>(std::strtoul(argv[4], nullptr, 10)));
  }
  std::set<std::string_view> wanted;
  for (int i = 5; i < argc; i++) {
    wanted.insert(argv[i]);
  }
  const spec::Tables& tables = spec::builtin_tables();
  std::set<spec::SetId> swept;
  for (const spec::NumberedCall& numbered : tables.numbers[index_of(abi)]) {
    const spec::Call& call = tables.calls[numbered.call];
    const std::string_view name = tables.text(call.name);
    if (wanted.empty() || wanted.count(name) != 0) {
      Prober(tables, abi, out, swept).probe(call, numbered.number);
    }
  }
  return std::fclose(out.plan) == 0 && std::fclose(out.index) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tracer::probe

int main(int argc, char** argv) {
  return tracer::probe::run(argc, argv);
}
