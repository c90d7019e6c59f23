#include "filter/syscall_set.h"

#include <regex.h>

#include <cerrno>
#include <optional>
#include <string>

#include "base/near_miss.h"
#include "filter/set_text.h"

namespace tracer::filter {
namespace {

constexpr std::string_view kind = "system call";

// The ABIs that the personality designators `64` and `32` select; a machine has at most one of each.
constexpr AbiMask native_64 = mask_of(Abi::x86_64) | mask_of(Abi::aarch64);
constexpr AbiMask native_32 = mask_of(Abi::i386) | mask_of(Abi::arm);

// The classes that strace also accepts without `%`.
constexpr std::array<std::string_view, 7> bare_classes = {"file", "process", "network", "signal",
                                                          "ipc",  "desc",    "memory"};

/// A compiled POSIX extended regular expression.
class Regex {
 public:
  explicit Regex(const std::string& pattern) : error_(regcomp(&regex_, pattern.c_str(), REG_EXTENDED | REG_NOSUB)) {}
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;
  ~Regex() {
    if (error_ == 0) {
      regfree(&regex_);
    }
  }
  [[nodiscard]] bool valid() const { return error_ == 0; }
  [[nodiscard]] std::string error_text() const {
    std::array<char, 256> text{};
    regerror(error_, &regex_, text.data(), text.size());
    return text.data();
  }
  [[nodiscard]] bool matches(const std::string& name) const {
    return regexec(&regex_, name.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t regex_{};
  int error_;
};

struct NamedCall {
  Abi abi;
  std::uint64_t number;
  std::string_view name;
  spec::ClassMask classes;
};

template <typename Visit>
void for_each_call(const SyscallNames& names, AbiMask abis, Visit visit) {
  for (std::size_t i = 0; i < abi_count; ++i) {
    const auto abi = static_cast<Abi>(i);
    if ((abis & mask_of(abi)) == 0) {
      continue;
    }
    for (const auto& row : names.tables.numbers[i]) {
      if (row.call != spec::none) {
        const spec::Call& call = names.tables.calls[row.call];
        visit(NamedCall{abi, row.number, names.tables.text(call.name), call.classes});
      }
    }
  }
  const spec::SubCalls sub_calls(names.tables);
  for (const spec::SubCall& call : sub_calls.all()) {
    if ((abis & mask_of(call.abi)) != 0) {
      visit(NamedCall{call.abi, call.number, call.name, call.classes});
    }
  }
}

std::optional<AbiMask> find_designator(std::string_view designator, AbiMask abis) {
  AbiMask mask = 0;
  if (designator == "64") {
    mask = abis & native_64;
  } else if (designator == "32") {
    mask = abis & native_32;
  } else if (designator == "x32") {
    mask = abis & mask_of(Abi::x32);
  }
  return mask == 0 ? std::nullopt : std::optional(mask);
}

std::optional<spec::ClassMask> find_class(std::string_view name) {
  for (std::size_t i = 0; i < spec::call_class_count; ++i) {
    if (spec::call_class_names[i] == name) {
      return spec::mask_of(static_cast<spec::CallClass>(i));
    }
  }
  return name == "net" ? std::optional(spec::mask_of(spec::CallClass::network)) : std::nullopt;
}

std::string near_miss(std::string_view word, const SyscallNames& names) {
  NearMiss miss(word);
  for_each_call(names, names.abis, [&](const NamedCall& call) { miss.consider(call.name); });
  for (const auto name : spec::call_class_names) {
    miss.consider("%" + std::string(name));
  }
  return miss.suggestion();
}

/// Adds the calls that match `pattern` (an item without `?` and `@`) to `set`. Returns false if none matches.
Result<bool> add_matches(std::string_view pattern, AbiMask abis, const SyscallNames& names, SyscallSet& set) {
  bool found = false;
  const auto add_if = [&](auto matches) {
    for_each_call(names, abis, [&](const NamedCall& call) {
      if (matches(call)) {
        set.add(call.abi, call.number);
        found = true;
      }
    });
  };

  if (pattern.starts_with('/')) {
    const std::string expression(pattern.substr(1));
    const Regex regex(expression);
    if (!regex.valid()) {
      return Error{0, "regcomp: " + expression + ": " + regex.error_text()};
    }
    add_if([&](const NamedCall& call) { return regex.matches(std::string(call.name)); });
    return found;
  }
  if (pattern == "all") {
    add_if([](const NamedCall&) { return true; });
    return found;
  }
  const bool bare_class = std::find(bare_classes.begin(), bare_classes.end(), pattern) != bare_classes.end();
  if (pattern.starts_with('%') || bare_class) {
    const auto classes = find_class(bare_class ? pattern : pattern.substr(1));
    // A class is valid even if no call of this ABI belongs to it.
    if (classes) {
      add_if([&](const NamedCall& call) { return (call.classes & *classes) != 0; });
    }
    return classes.has_value();
  }
  if (const auto number = parse_decimal(pattern, SyscallSet::limit - 1)) {
    add_if([&](const NamedCall& call) { return call.number == *number; });
    return found;
  }
  add_if([&](const NamedCall& call) { return call.name == pattern; });
  return found;
}

Status add_item(std::string_view item, const SyscallNames& names, SyscallSet& set) {
  std::string_view pattern = item;
  bool optional = false;
  while (pattern.starts_with('?')) {
    optional = true;
    pattern.remove_prefix(1);
  }
  AbiMask abis = names.abis;
  if (const auto at = pattern.rfind('@'); at != std::string_view::npos) {
    const auto designator = pattern.substr(at + 1);
    const auto picked = find_designator(designator, names.abis);
    if (!picked) {
      return Error{EINVAL, "incorrect personality designator '" + std::string(designator) + "' in qualification '" +
                               std::string(pattern) + "'"};
    }
    abis = *picked;
    pattern = pattern.substr(0, at);
  }
  const auto found = add_matches(pattern, abis, names, set);
  if (!found) {
    return found.error();
  }
  if (!found.value() && !optional) {
    Error error = invalid_item(kind, item);
    if (names.suggest_near_miss) {
      error.message += near_miss(pattern, names);
    }
    return error;
  }
  return Done{};
}

}  // namespace

SyscallSet SyscallSet::all() {
  SyscallSet set;
  set.invert();
  return set;
}

void SyscallSet::invert() {
  for (auto& bits : bits_) {
    bits.flip();
  }
  sub_calls_.flip();
  above_limit_ = !above_limit_;
}

std::array<SyscallSet::Bits, abi_count> SyscallSet::kernel_numbers(const spec::Tables& tables) const {
  std::array<Bits, abi_count> numbers = bits_;
  const spec::SubCalls sub_calls(tables);
  for (const spec::SubCall& call : sub_calls.all()) {
    if (contains(call.abi, call.number) && call.through < limit) {
      numbers[index_of(call.abi)].set(call.through);
    }
  }
  return numbers;
}

void SyscallSet::set_high(Abi abi, std::uint64_t number, bool member) {
  const High high{abi, number};
  const auto place = std::lower_bound(exceptions_.begin(), exceptions_.end(), high);
  const bool is_there = place != exceptions_.end() && *place == high;
  const bool is_wanted = member != above_limit_;
  if (is_there && !is_wanted) {
    exceptions_.erase(place);
  } else if (is_wanted && !is_there) {
    exceptions_.insert(place, high);
  }
}

bool SyscallSet::has_known(const spec::Tables& tables) const {
  bool found = false;
  for_each_call({tables}, all_abis, [&](const NamedCall& call) { found = found || contains(call.abi, call.number); });
  return found;
}

void SyscallSet::add_unknown(const spec::Tables& tables) {
  const SyscallSet before = *this;
  above_limit_ = true;
  exceptions_.clear();
  for (std::size_t i = 0; i < abi_count; ++i) {
    Bits known;
    for (const auto& row : tables.numbers[i]) {
      if (row.call != spec::none && row.number < limit) {
        known.set(row.number);
      } else if (row.call != spec::none) {
        set_high(static_cast<Abi>(i), row.number, before.contains(static_cast<Abi>(i), row.number));
      }
    }
    bits_[i] |= ~known;
  }
}

Result<SyscallSet> parse_syscall_set(std::string_view text, const SyscallNames& names) {
  const auto split = split_set(text, kind);
  if (!split) {
    return split.error();
  }
  SyscallSet set = split.value().form == SetText::Form::all ? SyscallSet::all() : SyscallSet{};
  for (const auto item : split.value().items) {
    if (const auto added = add_item(item, names, set); !added) {
      return added.error();
    }
  }
  if (split.value().inverted) {
    set.invert();
  }
  return set;
}

bool in_class_everywhere(std::string_view call, spec::CallClass wanted, const SyscallNames& names) {
  AbiMask matching = 0;
  for_each_call(names, names.abis, [&](const NamedCall& candidate) {
    if ((candidate.classes & spec::mask_of(wanted)) != 0 && candidate.name == call) {
      matching |= mask_of(candidate.abi);
    }
  });
  return matching == names.abis;
}

}  // namespace tracer::filter
