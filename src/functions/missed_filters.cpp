#include "functions/missed_filters.h"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>

#include "base/near_miss.h"

namespace tracer::functions {
namespace {

using Wanted = library::SymbolFilter::Wanted;

/// Whether a module or symbol is given by its name, not by a pattern.
bool is_name(std::string_view pattern) {
  return pattern.find_first_of("*?[/") == std::string_view::npos;
}

bool names_symbol(const Wanted& wanted) {
  return !wanted.is_expression && is_name(wanted.symbol);
}

}  // namespace

void MissedFilters::look_at(const std::map<std::uint64_t, library::Module>& modules) {
  for (const auto& start_and_module : modules) {
    const library::Module& module = start_and_module.second;
    const bool known = std::any_of(seen_.begin(), seen_.end(), [&](const Seen& s) { return s.file == module.file; });
    if (!known && seen_.size() < most_modules && symbols_ < most_symbols) {
      symbols_ += module.file->exported().size() + module.file->all_functions().size();
      seen_.push_back({module.name, module.path, module.is_program, module.file});
    }
  }
}

std::vector<const MissedFilters::Seen*> MissedFilters::matching(std::string_view module) const {
  std::vector<const Seen*> found;
  for (const Seen& one : seen_) {
    const std::string& name = module.starts_with('/') ? one.path : one.name;
    if (module == "MAIN" ? one.is_program : ::fnmatch(std::string(module).c_str(), name.c_str(), 0) == 0) {
      found.push_back(&one);
    }
  }
  return found;
}

std::string MissedFilters::why_no_module(const Wanted& wanted) const {
  NearMiss near(wanted.module);
  for (const Seen& one : seen_) {
    near.consider(one.name);
  }
  std::string text = fmt::format("no library is called '{}'{}", wanted.module, near.suggestion());
  if (!wanted.minus.empty()) {
    text +=
        fmt::format("; '-{0}' was read as \"minus {0}\": '{1}?{0}' is the name with it", wanted.minus, wanted.module);
  }
  return text;
}

std::string MissedFilters::why_no_call(const Wanted& wanted) const {
  const auto modules = matching(wanted.module);
  NearMiss near(wanted.symbol);
  bool has_slots = false;
  for (const Seen* one : modules) {
    has_slots = has_slots || !one->file->slots().empty();
    for (const library::Slot& slot : one->file->slots()) {
      near.consider(slot.symbol);
    }
  }
  if (!has_slots && modules.size() == 1) {
    return modules.front()->name + (modules.front()->file->has_interpreter()
                                        ? " calls no function of another module"
                                        : " is statically linked: it calls no function through a linkage table");
  }
  return names_symbol(wanted) ? fmt::format("no module calls '{}'{}", wanted.symbol, near.suggestion()) : "";
}

std::string MissedFilters::why_no_function(const Wanted& wanted) const {
  const auto modules = matching(wanted.module);
  NearMiss near(wanted.symbol);
  std::string stripped;
  for (const Seen* one : modules) {
    if (one->file->all_functions().empty() && (one->is_program || modules.size() == 1)) {
      stripped = fmt::format("{} is stripped: only functions that it exports have names", one->name);
    }
    for (const auto symbols : {one->file->exported(), one->file->all_functions()}) {
      for (const library::Symbol& symbol : symbols) {
        near.consider(symbol.name);
      }
    }
  }
  if (names_symbol(wanted) && (stripped.empty() || !near.best().empty())) {
    return fmt::format("no function is called '{}'{}", wanted.symbol, near.suggestion());
  }
  return stripped;
}

std::vector<std::string> MissedFilters::reasons(const library::LibrarySelection& selection, bool found) const {
  std::vector<std::string> reasons;
  const auto add = [&](const library::SymbolFilter& filter, auto why) {
    for (const Wanted& wanted : filter.wanted()) {
      const bool no_module = is_name(wanted.module) && matching(wanted.module).empty();
      if (wanted.has_matched || (found && !no_module && !names_symbol(wanted))) {
        continue;
      }
      std::string reason = no_module ? why_no_module(wanted) : (this->*why)(wanted);
      if (!reason.empty() && std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) {
        reasons.push_back(std::move(reason));
      }
    }
  };
  add(selection.calls, &MissedFilters::why_no_call);
  add(selection.entries, &MissedFilters::why_no_function);
  add(selection.exports, &MissedFilters::why_no_function);
  return reasons;
}

}  // namespace tracer::functions
