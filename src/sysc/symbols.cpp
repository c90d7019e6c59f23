#include "sysc/symbols.h"

#include <fmt/core.h>

namespace tracer::sysc {

namespace {

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace

Symbols::Symbols(const ast::Program& program, Diagnostics& diagnostics) {
  for (const auto& item : program.items) {
    add_item(item, diagnostics);
  }
}

void Symbols::add_item(const ast::Item& item, Diagnostics& diagnostics) {
  const auto position_in = [](const auto& list) { return static_cast<spec::Index>(list.size()); };
  std::visit(Overloaded{[&](const ast::Alias& alias) {
                          declare(alias.name, {&alias, 0, alias.name.at}, diagnostics);
                        },
                        [&](const ast::Set& set) {
                          declare(set.name, {&set, position_in(sets), set.name.at}, diagnostics);
                          sets.push_back(&set);
                          for (const auto& part : set.parts) {
                            if (const auto* group = std::get_if<ast::Group>(&part)) {
                              for (const auto& member : group->members) {
                                add_constant(member.name, {&set, member.values, member.name.at});
                              }
                            }
                          }
                        },
                        [&](const ast::Struct& structure) {
                          declare(structure.name, {&structure, position_in(structs), structure.name.at}, diagnostics);
                          structs.push_back(&structure);
                          for (const auto& field : structure.fields) {
                            inner_names_.insert(field.name.text);
                          }
                        },
                        [&](const ast::Table& table) {
                          declare(table.name, {&table, position_in(tables), table.name.at}, diagnostics);
                          tables.push_back(&table);
                        },
                        [&](const ast::Call& call) {
                          calls.push_back(&call);
                          add_signature(call.signature);
                        },
                        [&](const ast::Ioctls& block) {
                          ioctls.push_back(&block);
                          for (const auto& row : block.rows) {
                            if (row.signature) {
                              add_signature(*row.signature);
                            }
                          }
                        },
                        [&](const ast::Library& library) {
                          libraries.push_back(&library);
                          for (const auto& function : library.functions) {
                            add_signature(function.signature);
                          }
                        },
                        [&](const ast::Beyond& beyond) {
                          for (const auto& key : beyond.keys) {
                            beyond_[beyond.of.text].try_emplace(key.text, BeyondKey{key.at});
                          }
                        }},
             item);
}

void Symbols::add_signature(const ast::Signature& signature) {
  for (const auto& param : signature.params) {
    inner_names_.insert(param.name.text);
  }
  for (const auto& row : signature.rows) {
    add_signature(row.signature);
  }
}

void Symbols::declare(const ast::Name& name, Symbol symbol, Diagnostics& diagnostics) {
  const auto [entry, is_new] = types_.try_emplace(name.text, symbol);
  if (!is_new) {
    diagnostics.error(name.at, fmt::format("found {}, expected a new name: this one is declared in", name.text),
                      entry->second.at);
  }
}

void Symbols::add_constant(const ast::Name& name, const ConstantSymbol& constant) {
  constants_[name.text].push_back(constant);
}

const Symbol* Symbols::find_type(std::string_view name) {
  const auto found = types_.find(std::string(name));
  if (found == types_.end()) {
    return nullptr;
  }
  used_.insert(found->first);
  return &found->second;
}

const std::vector<ConstantSymbol>& Symbols::find_constant(std::string_view name) const {
  static const std::vector<ConstantSymbol> nothing;
  const auto found = constants_.find(std::string(name));
  return found == constants_.end() ? nothing : found->second;
}

void Symbols::suggest_types(NearMiss& near) const {
  for (const auto& [name, symbol] : types_) {
    near.consider(name);
  }
}

void Symbols::suggest_constants(NearMiss& near) const {
  for (const auto& [name, symbols] : constants_) {
    near.consider(name);
  }
}

void Symbols::suggest_inner_names(NearMiss& near) const {
  for (const auto& name : inner_names_) {
    near.consider(name);
  }
}

std::string key_text(const ast::Expr& key) {
  const auto* named = std::get_if<ast::Reference>(&key.node);
  return named != nullptr ? named->name : std::to_string(std::get<ast::Literal>(key.node).value);
}

bool Symbols::is_beyond(const std::string& of, const std::string& key) {
  // The names and the values of attributes are `OF.name` and `OF.value`.
  const auto keys = beyond_.find(of.substr(0, of.find('.')));
  if (keys == beyond_.end()) {
    return false;
  }
  const auto found = keys->second.find(key);
  if (found == keys->second.end()) {
    return false;
  }
  found->second.found = true;
  return true;
}

bool Symbols::is_beyond_value(const std::string& attributes, const std::string& name) {
  const bool has_none = is_beyond("attributes", name);
  return is_beyond(attributes, name) || has_none;
}

void Symbols::check_beyond(const ast::Program& program, Diagnostics& diagnostics) const {
  for (const auto& [of, keys] : beyond_) {
    for (const auto& [key, entry] : keys) {
      if (!entry.found && (!program.first_replaceable || program.is_users(entry.at))) {
        diagnostics.warning(entry.at,
                            std::string("found ").append(key).append(", expected a row or a name of ").append(of));
      }
    }
  }
}

void Symbols::warn_unused(Diagnostics& diagnostics) const {
  for (const auto& [name, symbol] : types_) {
    if (used_.count(name) == 0) {
      diagnostics.warning(symbol.at, "found " + name + ", which nothing uses");
    }
  }
}

}  // namespace tracer::sysc
