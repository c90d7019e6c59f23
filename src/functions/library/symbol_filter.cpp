#include "functions/library/symbol_filter.h"

#include <fnmatch.h>
#include <regex.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace tracer::functions::library {
namespace {

/// Owner of a compiled POSIX regular expression.
class Expression {
 public:
  explicit Expression(const std::string& text) : error_(::regcomp(&compiled_, text.c_str(), REG_NOSUB)) {}
  ~Expression() {
    if (error_ == 0) {
      ::regfree(&compiled_);
    }
  }
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;
  /// What is wrong with it; empty: nothing.
  [[nodiscard]] std::string fault() const {
    std::array<char, 128> words{};
    return error_ != 0 && ::regerror(error_, &compiled_, words.data(), words.size()) != 0 ? words.data() : "";
  }
  [[nodiscard]] bool matches(const std::string& name) const {
    return error_ == 0 && ::regexec(&compiled_, name.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t compiled_{};
  int error_;
};

/// Whether the `-` at `at` is part of the module's name that `text` starts with: what follows has `.so` in it, which no
/// function's name has.
bool is_in_module_name(std::string_view text, std::size_t at, std::string_view ends) {
  constexpr std::string_view mark = ".so";
  const bool is_module = ends.find('@') == std::string_view::npos;
  const std::string_view before = text.substr(0, at);
  const std::string_view after = text.substr(at, text.find_first_of("@+", at) - at);
  return is_module && text[at] == '-' && before != "MAIN" && before.find(mark) == std::string_view::npos &&
         after.find(mark) != std::string_view::npos;
}

}  // namespace

bool SymbolFilter::Pattern::matches(std::string_view name) const {
  const std::string whole(name);
  return is_expression ? Expression("^" + text + "$").matches(whole) : ::fnmatch(text.c_str(), whole.c_str(), 0) == 0;
}

bool SymbolFilter::Rule::matches_module(const ModuleName& name) const {
  if (module.text == "MAIN") {  // as an expression, too: ltrace takes it so
    return name.is_program;
  }
  return module.matches(!module.is_expression && module.text.starts_with('/') ? name.path : name.soname);
}

Result<SymbolFilter::Pattern> SymbolFilter::checked(Pattern pattern) {
  if (const std::string fault = Expression("^" + pattern.text + "$").fault(); !fault.empty()) {
    return Error{EINVAL, "Couldn't compile '" + pattern.text + "': " + fault};
  }
  return pattern;
}

/// Removes both expressions of `/SYMBOL@MODULE/` from the start of `text`; false: it starts with something else.
Result<bool> SymbolFilter::read_both(std::string_view& text, Rule& rule) {
  const std::size_t closing = text.starts_with('/') ? text.find('/', 1) : std::string_view::npos;
  const std::size_t at = text.find('@');
  if (closing == std::string_view::npos || at > closing ||
      (closing + 1 < text.size() && text[closing + 1] != '+' && text[closing + 1] != '-')) {
    return false;
  }
  for (const auto& [pattern, from, to] :
       {std::tuple(&rule.symbol, std::size_t{1}, at), {&rule.module, at + 1, closing}}) {
    auto read = checked({std::string(text.substr(from, to - from)), true});
    if (!read) {
      return read.error();
    }
    *pattern = std::move(read).value();
  }
  text.remove_prefix(closing + 1);
  return true;
}

/// Removes a pattern, which one of the characters `ends` terminates, from the start of `text` and returns it.
Result<SymbolFilter::Pattern> SymbolFilter::read_pattern(std::string_view& text, std::string_view ends) {
  Pattern pattern;
  const std::size_t closing = text.starts_with('/') ? text.find('/', 1) : std::string_view::npos;
  const bool whole = closing != std::string_view::npos &&
                     (closing + 1 == text.size() || ends.find(text[closing + 1]) != std::string_view::npos);
  if (whole) {
    pattern.text = text.substr(1, closing - 1);
    pattern.is_expression = true;
    text.remove_prefix(closing + 1);
    return checked(std::move(pattern));
  }
  std::size_t end = std::min(text.find_first_of(ends), text.size());
  while (end != 0 && end < text.size()) {
    if (text.substr(end).starts_with("++")) {  // libstdc++.so.6
      end = std::min(text.find_first_of(ends, end + 2), text.size());
    } else if (is_in_module_name(text, end, ends)) {  // libpcre2-8.so.0
      end = std::min(text.find_first_of(ends, end + 1), text.size());
    } else {
      break;
    }
  }
  pattern.text = end == 0 ? "*" : std::string(text.substr(0, end));
  text.remove_prefix(end);
  return pattern;
}

/// Whether a library's pattern begins as an expression and has none. A path begins so, too.
bool SymbolFilter::is_half_open(const Pattern& module) {
  return module.is_expression ? module.text.empty() : module.text == "/";
}

Status SymbolFilter::read_rule(std::string_view& text, Rule& rule) {
  auto both = read_both(text, rule);
  if (!both) {
    return both.error();
  }
  if (both.value()) {
    return Done{};
  }
  auto symbol = read_pattern(text, "@+-");
  if (!symbol) {
    return symbol.error();
  }
  rule.symbol = std::move(symbol).value();
  if (!rule.symbol.is_expression && rule.symbol.text.starts_with('/')) {
    return Error{EINVAL, "Unmatched '/' in symbol name."};
  }
  rule.module.text = "*";
  if (text.starts_with('@')) {
    text.remove_prefix(1);
    auto module = read_pattern(text, "+-");
    if (!module) {
      return module.error();
    }
    if (is_half_open(module.value())) {
      return Error{EINVAL, "Unmatched '/' in library name."};
    }
    rule.module = std::move(module).value();
  }
  return Done{};
}

Status SymbolFilter::add(std::string_view expression) {
  std::vector<Rule> rules;
  std::string_view rest = expression;
  bool adds = true;
  if (rest.starts_with('!') || rest.starts_with('-') || rest == "+") {
    rules.push_back({true, {"*", false}, {"*", false}});
    adds = false;
  }
  if (!rest.empty() && (!adds || rest.front() == '+')) {
    rest.remove_prefix(1);
  }
  while (!rest.empty()) {  // nothing behind a sign is no rule
    Rule rule;
    rule.adds = adds;
    if (const Status read = read_rule(rest, rule); !read) {
      return read.error();
    }
    rules.push_back(std::move(rule));
    if (!rest.empty()) {
      adds = rest.front() == '+';
      rest.remove_prefix(1);
    }
  }
  filters_.push_back(std::move(rules));
  return Done{};
}

Status SymbolFilter::add_module(std::string_view module) {
  auto pattern = read_pattern(module, "");
  if (!pattern) {
    return pattern.error();
  }
  if (is_half_open(pattern.value())) {
    return Error{EINVAL, "Unmatched '/' in library name."};
  }
  filters_.push_back({{true, {"*", false}, std::move(pattern).value()}});
  return Done{};
}

std::string without_parameters(std::string name) {
  const auto last = name.rfind(')');
  if (last == std::string::npos) {
    return name;
  }
  int open = 0;
  for (std::size_t at = last + 1; at-- > 0;) {
    open += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
    if (open == 0) {
      // The parentheses of operator() are part of the name.
      name.resize(at == 0 ? name.size() : at);
      break;
    }
  }
  return name;
}

std::string without_templates(std::string_view name) {
  std::string plain;
  if (name.starts_with('<')) {  // <shop::Basket as shop::Goods>::take
    const auto end = std::min(name.find(" as "), name.rfind(">::"));
    plain = name.substr(1, end == std::string_view::npos ? end : end - 1);
    name.remove_prefix(std::min(name.rfind(">::"), name.size() - 1) + 1);
  }
  int depth = 0;
  for (const char c : name) {
    const bool is_operator =
        depth == 0 && (plain.ends_with("operator") || plain.ends_with("operator<") || plain.ends_with("operator-") ||
                       plain.ends_with("operator<=") || plain.ends_with("operator>"));
    depth += is_operator ? 0 : c == '<' ? 1 : 0;
    if (depth == 0) {
      plain += c;
    }
    depth -= is_operator || depth == 0 ? 0 : c == '>' ? 1 : 0;
  }
  for (auto twice = plain.find("::::"); twice != std::string::npos; twice = plain.find("::::")) {
    plain.erase(twice, 2);
  }
  if (plain.ends_with("::")) {
    plain.resize(plain.size() - 2);
  }
  for (auto tag = plain.find("[abi:"); tag != std::string::npos; tag = plain.find("[abi:")) {
    plain.erase(tag, plain.find(']', tag) - tag + 1);  // text[abi:cxx11]
  }
  plain.resize(plain.find_last_not_of(' ') + 1);  // operator< <int>
  return plain;
}

std::string_view without_result(std::string_view name) {
  // The type of the result ends at the last blank that is not part of the name: (anonymous namespace), operator new.
  int open = 0;
  for (std::size_t at = std::min(name.find("operator"), name.size()); at-- > 0;) {
    const char c = name[at];
    open += c == ')' || c == '>' ? 1 : c == '(' || c == '<' ? -1 : 0;
    if (open == 0 && c == ' ') {
      const auto start = name.find_first_not_of("*& ", at);
      return name.substr(start == std::string_view::npos ? at : start);
    }
  }
  return name;
}

bool SymbolFilter::matches(std::string_view symbol, const ModuleName& module) const {
  std::string whole;
  std::string bare;
  std::string_view named;
  std::string plain;
  if (demangler_ && (symbol.starts_with("_Z") || symbol.starts_with("_R")) && concerns(module)) {
    whole = demangler_(symbol);
    bare = without_parameters(whole);
    named = without_result(bare);
    plain = without_templates(named);
  }
  const auto fits = [&](const Rule& rule) {
    return rule.matches_module(module) &&
           (rule.symbol.matches(symbol) ||
            (!whole.empty() && (rule.symbol.matches(whole) || rule.symbol.matches(bare) || rule.symbol.matches(named) ||
                                rule.symbol.matches(plain))));
  };
  for (const std::vector<Rule>& rules : filters_) {
    for (const Rule& rule : rules) {
      rule.has_matched = rule.has_matched || fits(rule);
    }
  }
  return std::any_of(filters_.begin(), filters_.end(), [&](const std::vector<Rule>& rules) {
    const auto last = std::find_if(rules.rbegin(), rules.rend(), fits);
    return last != rules.rend() && last->adds;
  });
}

bool SymbolFilter::concerns(const ModuleName& module) const {
  return std::any_of(filters_.begin(), filters_.end(), [&](const std::vector<Rule>& rules) {
    return std::any_of(rules.begin(), rules.end(),
                       [&](const Rule& rule) { return rule.adds && rule.matches_module(module); });
  });
}

std::vector<SymbolFilter::Wanted> SymbolFilter::wanted() const {
  std::vector<Wanted> found;
  for (const std::vector<Rule>& rules : filters_) {
    for (auto rule = rules.begin(); rule != rules.end(); ++rule) {
      if (rule->adds) {
        const auto next = std::next(rule);
        const bool subtracts = next != rules.end() && !next->adds;
        found.push_back({rule->symbol.text, rule->module.text, subtracts ? next->symbol.text : std::string_view{},
                         rule->symbol.is_expression, rule->has_matched});
      }
    }
  }
  return found;
}

bool SymbolFilter::names(const ModuleName& module) const {
  return std::any_of(filters_.begin(), filters_.end(), [&](const std::vector<Rule>& rules) {
    return std::any_of(rules.begin(), rules.end(), [&](const Rule& rule) {
      return rule.adds && rule.module.text != "*" && rule.matches_module(module);
    });
  });
}

}  // namespace tracer::functions::library
