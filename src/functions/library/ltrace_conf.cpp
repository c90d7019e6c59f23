#include "functions/library/ltrace_conf.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "functions/library/conf_reader.h"
#include "spec/user_prototypes.h"

namespace tracer::functions::library {

namespace {

constexpr std::size_t max_file_size = 4U << 20;
constexpr std::size_t max_items = 100'000;
constexpr unsigned max_imports = 32;  // within each other, and in a file

}  // namespace

std::string ConfReader::read() {
  const auto first = word();
  if (first == "typedef") {
    return read_typedef();
  }
  if (first == "import") {
    return read_import();
  }
  return read_prototype(first);
}

std::string ConfReader::read_import() {
  const auto end = expect('"') ? rest_.find('"') : std::string_view::npos;
  if (end == std::string_view::npos) {
    refuse("unmatched quote");
    return error_;
  }
  return conf_.import(rest_.substr(0, end), scope_);
}

std::string ConfReader::read_typedef() {
  const std::string name(identifier());
  if (name.empty() || !expect('=')) {
    return error_;
  }
  const auto known = conf_.types_.find(name);
  const bool is_declared =
      known != conf_.types_.end() && scope_.types.contains(name) && conf_.undefined_.contains(known->second.text);
  skip_blanks();
  if (const auto before = rest_; word() == "struct") {
    if (!take('(')) {
      // A forward declaration: pointers to the struct may precede its definition.
      if (is_declared) {
        return error_;
      }
      if (conf_.defines(scope_, name, 0)) {
        return "Redefinition of typedef '" + name + "'";
      }
      scope_.types.insert(name);
      ++conf_.declared_;
      Lens lens;
      lens.text = declared_name("struct");
      lens.is_struct = true;
      conf_.types_[name] = lens;
      conf_.undefined_.insert(lens.text);
      return error_;
    }
    rest_ = before;
  } else {
    rest_ = before;
  }
  if (is_declared) {
    if (word() != "struct") {
      return "Definition of forward '" + name + "' must be a structure.";
    }
    if (const auto defined = structure(known->second.text, 0)) {
      known->second.size = defined->size;
    }
    return error_;
  }
  if (conf_.defines(scope_, name, 0)) {
    return "Redefinition of typedef '" + name + "'";
  }
  if (const auto found = lens(0)) {
    scope_.types.insert(name);
    conf_.types_[name] = *found;
  }
  return error_;
}

std::string ConfReader::read_prototype(std::string_view first) {
  if (first == "function") {
    first = word();
  }
  auto result = first.empty() ? refuse("bad identifier") : lens_of(first, 0);
  while (result && take('*')) {
    result = pointer_to(*result);
  }
  const std::string name(result ? identifier() : std::string_view());
  if (name.empty() || !expect('(')) {
    return error_;
  }
  std::string parameters;
  bool varargs = false;
  bool filled_in = false;
  unsigned number = 0;
  if (!take(')')) {
    do {
      filled_in = take('+') || filled_in;
      auto found = lens(0);
      if (found && found->is_format && varargs) {
        return "only one 'format' type per function supported";
      }
      if (!found || ++number > max_conf_parameters || varargs) {
        fail(varargs ? "a type behind a format" : "too many types");
        return error_;
      }
      if (found->text.empty()) {
        if (number == 1 && is_at(')')) {
          continue;  // (void)
        }
        conf_.warnings_.emplace_back("void parameter assumed to be 'hide(int)'");
        found->text = "int";
        found->is_hidden = true;
      }
      if (!found->target.empty()) {
        found->text = '*' + found->target;
      } else if (!found->length.empty()) {
        found->text = '*' + found->array_text();  // C passes arrays as pointers to them
        found->target = found->array_text();
      } else if (found->is_array) {
        found->target = found->text;
        found->text = '*' + found->target;
      }
      const bool is_text = found->text == "str";
      if (filled_in && (!found->target.empty() || is_text)) {
        found->text = "out *" + (is_text ? std::string("cstr") : found->target);
      }
      varargs = found->is_format;
      parameters += fmt::format("{}a{}: {}{}", parameters.empty() ? "" : ", ", number, found->text,
                                found->is_hidden ? " if 0" : "");
    } while (take(',') && !is_at(')'));  // ltrace takes a comma behind the last one, too
    if (!expect_end_of_list()) {
      return error_;
    }
  }
  if (!result->length.empty() && result->target.empty()) {
    return {};  // C has no arrays by value
  }
  if (result->is_hidden && !result->is_struct) {
    result->text = "custom hidden : ulong";
  }
  const std::string all = parameters + ' ' + result->text;
  if (mentions_more_than(all, 'a', number) || mentions_more_than(all, 'e', 0)) {
    fail("no such argument");
    return error_;
  }
  const bool is_new =
      scope_.functions
          .try_emplace(name, name + '(' + parameters + ") -> " + (result->text.empty() ? "void" : result->text) +
                                 (varargs ? " varargs printf" : ""))
          .second;
  conf_.function_count_ += is_new ? 1 : 0;
  return error_;
}

bool LtraceConf::defines(const Scope& scope, std::string_view type, unsigned depth) const {
  const auto in_import = [&](const std::string& path) {
    const auto imported = scopes_.find(path);
    return imported != scopes_.end() && defines(imported->second, type, depth + 1);
  };
  return scope.types.contains(type) ||
         (depth < max_imports && std::any_of(scope.imports.begin(), scope.imports.end(), in_import));
}

void LtraceConf::gather(const Scope& scope, const std::string& library, unsigned depth,
                        std::set<std::string_view>& known, Libraries& into) const {
  for (const auto& [name, description] : scope.functions) {
    if (known.insert(name).second) {
      into[description].insert(library);
    }
  }
  for (const std::string& path : scope.imports) {
    if (const auto imported = scopes_.find(path); imported != scopes_.end() && depth < max_imports) {
      gather(imported->second, library, depth + 1, known, into);
    }
  }
}

std::string LtraceConf::import(std::string_view name, Scope& scope) {
  const auto file = importer_ ? importer_(name) : std::nullopt;
  if (!file) {
    return fmt::format("\"{}.conf\" not found", name);
  }
  if (open_imports_ == max_imports || scope.imports.size() == max_imports) {
    return "too many imports";
  }
  ++open_imports_;
  read_items(file->text, file->path);
  --open_imports_;
  scope.imports.push_back(file->path);
  return {};
}

void LtraceConf::read(std::string_view text, std::string_view path, std::string_view module) {
  const Scope& scope = read_items(text, path);
  roots_.push_back({module.empty() ? std::string(spec::for_all_modules) : spec::for_module(module), &scope});
}

const LtraceConf::Scope& LtraceConf::read_items(std::string_view text, std::string_view path) {
  const auto [entry, is_new] = scopes_.try_emplace(std::string(path));
  Scope& scope = entry->second;
  if (!is_new) {
    return scope;
  }
  text = text.substr(0, max_file_size);
  unsigned line = 0;
  while (!text.empty()) {
    ++line;
    const auto end = text.find('\n');
    const std::string_view item = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto start = item.find_first_not_of(" \t\r");
    if (start == std::string_view::npos || item[start] == ';' || item[start] == '#') {
      continue;
    }
    if (function_count_ + types_.size() + declared_ > max_items || errors_.size() > max_items) {
      break;
    }
    const std::size_t items = items_.size();
    const std::string error = ConfReader(*this, scope, item).read();
    for (const std::string& warning : std::exchange(warnings_, {})) {
      errors_.push_back(fmt::format("{}:{}: warning: {}", path, line, warning));
    }
    if (!error.empty()) {
      items_.resize(items);  // removes what the item has declared so far
      errors_.push_back(fmt::format("{}:{}: error: {}", path, line, error));
    }
  }
  return scope;
}

std::string LtraceConf::descriptions() const {
  std::string text = items_;
  for (const std::string& name : undefined_) {
    text += fmt::format("struct {} {{ }}\n", name);
  }
  std::map<std::string, std::set<std::string_view>> known;
  Libraries libraries;
  for (const auto& [library, scope] : roots_) {
    gather(*scope, library, 0, known[library], libraries);
  }
  const std::string some(spec::for_some_module);
  for (const auto& [library, scope] : roots_) {
    // A file that is named after a program says nothing of libraries.
    if (library == spec::for_all_modules || library.find(".so") != std::string::npos) {
      gather(*scope, some, 0, known[some], libraries);
    }
  }
  std::map<std::set<std::string>, std::string> blocks;
  for (const auto& [description, names] : libraries) {
    blocks[names] += "  " + description + '\n';
  }
  for (const auto& [names, lines] : blocks) {
    text += "library";
    for (const std::string& name : names) {
      text += fmt::format(" \"{}\"", name);
    }
    text += " {\n" + lines + "}\n";
  }
  return text;
}

}  // namespace tracer::functions::library
