// Decodes each case from no more memory than its capture plan copies, and compares that with what its whole memory
// shows: planned_cases [--print] LIST FILE.case…. What differs has to be on the list, and what is on the list has to
// differ.
#include <cstdio>
#include <exception>
#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include "capture/carry_out.h"
#include "capture/plans.h"
#include "case_tracee.h"
#include "decoders/decoders.h"
#include "render/json_emitter.h"

namespace tracer::test {
namespace {

/// What plans have copied, read like bpf::CapturedMemory: the exit's copies go before the entry's.
class PlannedMemory final : public trace::Memory {
 public:
  /// Copies of one moment.
  class Copies final : public capture::Recorder {
   public:
    void memory(std::uint64_t address, std::span<const std::byte> bytes) override {
      chunks_.emplace_back(address, std::vector<std::byte>(bytes.begin(), bytes.end()));
    }
    void named(named_kind, std::uint32_t, std::uint32_t) override {}
    void netlink(std::uint32_t) override {}

    /// From `address` to the end of the longest chunk that has it; empty if none has.
    [[nodiscard]] std::span<const std::byte> find(std::uint64_t address) const {
      std::span<const std::byte> best;
      for (const auto& [start, bytes] : chunks_) {
        const std::uint64_t skipped = address - start;
        if (address >= start && skipped < bytes.size() && bytes.size() - skipped > best.size()) {
          best = std::span(bytes).subspan(skipped);
        }
      }
      return best;
    }

   private:
    std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> chunks_;
  };

  std::size_t read(RemoteAddr address, std::span<std::byte> into) const override {
    std::size_t done = 0;
    while (done < into.size()) {
      auto found = exit.find(address.value() + done);
      found = found.empty() ? entry.find(address.value() + done) : found;
      if (found.empty()) {
        break;
      }
      const std::size_t part = std::min(found.size(), into.size() - done);
      std::copy_n(found.begin(), part, into.begin() + static_cast<std::ptrdiff_t>(done));
      done += part;
    }
    return done;
  }

  Copies entry;
  Copies exit;
};

/// The plans for the cases of one file, made when a case first wants them.
class CasePlans {
 public:
  explicit CasePlans(const CaseTables& tables) : tables_(tables) {}

  const capture::CapturePlans& of(const Case& c, Abi abi) {
    const Key key{abi, c.options.string_limit, !c.depth.abbreviate, c.names};
    const auto known = made_.find(key);
    if (known != made_.end()) {
      return known->second;
    }
    capture::CaptureLimits limits;
    limits.string_limit = c.options.string_limit;
    limits.whole = !c.depth.abbreviate;
    limits.descriptors = c.names;
    return made_.emplace(key, capture::make_capture_plans(tables_.view(), mask_of(abi), limits)).first->second;
  }

 private:
  using Key = std::tuple<Abi, std::uint32_t, bool, bool>;
  const CaseTables& tables_;
  std::map<Key, capture::CapturePlans> made_;
};

/// One call, whose memory is copied as its plan says.
class PlannedCall {
 public:
  PlannedCall(const capture::CapturePlans& plans, const decode::Entry& entry) : plans_(plans), call_(entry) {
    std::copy(entry.args.begin(), entry.args.end(), values_.begin());
    values_[slot_stack] = entry.stack_pointer;
    if (entry.number < numbers_per_abi) {
      plan_ = &plans.choose(entry.abi, static_cast<std::uint32_t>(entry.number), entry.args);
    }
  }

  void at_entry(const trace::Memory& all) {
    if (plan_ != nullptr) {
      capture::carry_out(plans_.at_entry(*plan_), values_, all, memory_.entry);
    }
  }

  void at_exit(const decode::Outcome& outcome, const trace::Memory& all) {
    if (plan_ != nullptr && outcome.known && (!outcome.is_error || plan_->exit_if_failed != 0)) {
      std::copy(call_.args.begin(), call_.args.end(), values_.begin());
      values_[slot_result] = static_cast<std::uint64_t>(outcome.value);
      capture::carry_out(plans_.at_exit(*plan_), values_, all, memory_.exit);
    }
  }

  [[nodiscard]] const trace::Memory& memory() const { return memory_; }

 private:
  const capture::CapturePlans& plans_;
  const decode::Entry& call_;
  const capture_plan* plan_ = nullptr;
  capture::Slots values_{};
  PlannedMemory memory_;
};

/// An emitter that remembers where each argument begins.
template <typename Base>
class WithPlaces final : public Base {
 public:
  using Base::Base;
  void begin_argument(std::string_view name, std::string_view type, std::uint64_t raw) override {
    places.emplace_back(name, this->written());
    Base::begin_argument(name, type, raw);
  }
  void end_arguments() override {
    places.emplace_back("the result", this->written());
    Base::end_arguments();
  }

  std::vector<std::pair<std::string, std::size_t>> places;
};

/// What is shown of each argument, at the entry and in the end, and of the rest of the call.
using Parts = std::vector<std::pair<std::string, std::string>>;

template <typename Emitter>
Parts parts_of(const Emitter& emitter, std::string_view text) {
  Parts parts;
  std::size_t start = 0;
  std::string name = "the name";
  for (const auto& [next, place] : emitter.places) {
    parts.emplace_back(name, text.substr(start, place - start));
    name = next;
    start = place;
  }
  parts.emplace_back(name, text.substr(start));
  return parts;
}

using Places = std::set<std::string>;

Places differences(const Parts& whole, const Parts& planned) {
  Places names;
  for (std::size_t i = 0; i < std::max(whole.size(), planned.size()); ++i) {
    if (i >= whole.size() || i >= planned.size()) {
      names.insert("the number of arguments");
    } else if (whole[i] != planned[i]) {
      names.insert(whole[i].first);
    }
  }
  return names;
}

class Comparison {
 public:
  Comparison(const Case& c, Abi abi, const CaseTables& tables, const capture::CapturePlans& plans)
      : case_(c), abi_(abi), tables_(tables), plans_(plans) {}

  Places run() {
    const auto text = [this](TextBuffer& buffer) {
      return WithPlaces<render::TextEmitter>(tables_.view(), buffer, case_.text_options);
    };
    const auto json = [this](TextBuffer& buffer) { return WithPlaces<render::JsonEmitter>(tables_.view(), buffer); };
    Places names = compare(text);
    names.merge(compare(json));
    return names;
  }

  /// What the text shows from the whole memory, and from the planned one.
  std::string example;

 private:
  template <typename MakeEmitter>
  Places compare(const MakeEmitter& make) {
    Places names;
    const auto [whole_entry, whole] = show(make, false);
    const auto [planned_entry, planned] = show(make, true);
    names = differences(whole, planned);
    names.merge(differences(whole_entry, planned_entry));
    if (example.empty() && !names.empty()) {
      example = "  whole    " + joined(whole) + "\n  planned  " + joined(planned) + '\n';
    }
    return names;
  }

  static std::string joined(const Parts& parts) {
    std::string out;
    for (const auto& [name, text] : parts) {
      out += text;
    }
    return out;
  }

  template <typename MakeEmitter>
  std::pair<Parts, Parts> show(const MakeEmitter& make, bool planned) const {
    FakeNames names(case_.names, case_.vcpu, case_.namespaces);
    FakeMemory memory;
    memory.put(case_.memory, abi_);
    const decode::Decoder decoder(tables_.view(), case_.options, names.all(), decoders::all());
    const auto state = decoder.make_state();
    for (const CallLine& earlier : case_.before) {
      TextBuffer unseen;
      auto emitter = make(unseen);
      const decode::Entry entry = tables_.entry(case_, earlier, abi_, memory);
      PlannedCall call(plans_, entry);
      call.at_entry(memory);
      decoder.enter(*state, entry, case_.depth, planned ? call.memory() : memory, emitter);
      decoder.exit(*state, {}, planned ? call.memory() : memory, emitter);
    }
    TextBuffer text;
    auto emitter = make(text);
    const decode::Entry entry = tables_.entry(case_, case_.call, abi_, memory);
    PlannedCall call(plans_, entry);
    call.at_entry(memory);
    decoder.enter(*state, entry, case_.depth, planned ? call.memory() : memory, emitter);
    const Parts entered = parts_of(emitter, text.view());
    memory.put(case_.changes, abi_);
    call.at_exit(case_.outcome, memory);
    decoder.exit(*state, case_.outcome, planned ? call.memory() : memory, emitter);
    return {entered, parts_of(emitter, text.view())};
  }

  const Case& case_;
  Abi abi_;
  const CaseTables& tables_;
  const capture::CapturePlans& plans_;
};

/// The cases that decode otherwise from planned memory: `FILE: CASE: ARGUMENT, …: REASON`.
class Exceptions {
 public:
  explicit Exceptions(const std::string& path) {
    std::ifstream in(path);
    if (!in) {
      throw std::runtime_error(path + ": cannot be read");
    }
    for (std::string line; std::getline(in, line);) {
      if (line.empty() || line[0] == '#') {
        continue;
      }
      std::array<std::string, 4> parts;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto end = i + 1 < parts.size() ? line.find(" | ") : line.size();
        if (end == std::string::npos || end == 0) {
          throw std::runtime_error(path + ": not FILE | CASE | ARGUMENT, ... | REASON: " + line);
        }
        parts[i] = line.substr(0, end);
        line.erase(0, end + 3);
      }
      known_[{parts[0], parts[1]}] = parts[2];
    }
  }

  /// The arguments of a case that the list names.
  [[nodiscard]] std::string of(const std::string& file, const std::string& name) const {
    const auto found = known_.find({file, name});
    return found == known_.end() ? "" : found->second;
  }

  [[nodiscard]] const auto& all() const { return known_; }

 private:
  std::map<std::pair<std::string, std::string>, std::string> known_;
};

std::string joined(const Places& names) {
  std::string out;
  for (const std::string& name : names) {
    out += (out.empty() ? "" : ", ") + name;
  }
  return out;
}

/// Why nobody records a case by plans; empty: somebody does.
std::string not_recorded(const Case& c) {
  return !c.call.library.empty() ? "a library's function"
         : c.vcpu                ? "--kvm needs the memory of a thread that stands still"
         : c.options.rings       ? "--io-uring does likewise"
                                 : "";
}

std::size_t check_file(const std::string& path, const Exceptions& exceptions, bool print) {
  const auto file = read_case_file(path);
  const CaseTables tables(file, path);
  CasePlans plans(tables);
  const auto slash = path.rfind('/') + 1;
  const std::string name = path.substr(slash, path.rfind('.') - slash);
  std::map<std::string, std::pair<Places, std::string>> found;  // cases of one name together
  for (const Case& c : file.cases) {
    auto& [names, example] = found[c.name];
    for (const Abi abi : c.abis) {
      if (not_recorded(c).empty()) {
        Comparison comparison(c, abi, tables, plans.of(c, abi));
        names.merge(comparison.run());
        example = example.empty() ? comparison.example : example;
      }
    }
  }
  std::size_t failed = 0;
  for (const auto& [case_name, difference] : found) {
    const std::string names = joined(difference.first);
    const std::string known = exceptions.of(name, case_name);
    if (print && !names.empty()) {
      std::printf("%s | %s | %s | \n%s", name.c_str(), case_name.c_str(), names.c_str(), difference.second.c_str());
    } else if (names != known) {
      ++failed;
      std::printf("%s: %s: differs from planned memory in \"%s\", the list says \"%s\"\n%s", name.c_str(),
                  case_name.c_str(), names.c_str(), known.c_str(), difference.second.c_str());
    }
  }
  for (const auto& [key, known] : exceptions.all()) {
    if (key.first == name && found.find(key.second) == found.end()) {
      ++failed;
      std::printf("%s: %s: is on the list, and there is no such case\n", name.c_str(), key.second.c_str());
    }
  }
  return failed;
}

}  // namespace
}  // namespace tracer::test

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool print = !words.empty() && words.front() == "--print";
  words.erase(words.begin(), words.begin() + (print ? 1 : 0));
  if (words.size() < 2) {
    std::fputs("Usage: planned_cases [--print] LIST FILE.case...\n", stderr);
    return 2;
  }
  std::size_t failed = 0;
  try {
    const tracer::test::Exceptions exceptions(words.front());
    for (std::size_t i = 1; i < words.size(); ++i) {
      failed += tracer::test::check_file(words[i], exceptions, print);
    }
  } catch (const std::exception& failure) {
    std::printf("%s\n", failure.what());
    ++failed;
  }
  return failed == 0 ? 0 : 1;
}
