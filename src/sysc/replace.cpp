#include "sysc/replace.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

namespace tracer::sysc {
namespace {

class Replacement {
 public:
  explicit Replacement(std::size_t first) : first_(first) {}

  void apply(ast::Program& program) {
    for (const ast::Item& item : program.items) {
      note(item);
    }
    for (const ast::Number& number : program.numbers) {
      if (!is_replaceable(number.name)) {
        numbers_.emplace(number.abi, number.number);
      }
    }
    std::erase_if(program.items, [&](ast::Item& item) {
      const bool is_gone = is_replaced(item);
      if (auto* call = std::get_if<ast::Call>(&item); is_gone && call != nullptr) {
        program.replaced.push_back(std::move(*call));
      }
      return is_gone;
    });
    std::erase_if(program.numbers, [this](const ast::Number& number) {
      return is_replaceable(number.name) && numbers_.count({number.abi, number.number}) != 0;
    });
  }

 private:
  [[nodiscard]] bool is_replaceable(const ast::Name& name) const { return name.at.file >= first_; }

  static std::string key(const ast::Name& library, const ast::Name& function) {
    return library.text + '\0' + function.text;
  }

  void note(const ast::Item& item) {
    if (const auto* call = std::get_if<ast::Call>(&item); call != nullptr && !is_replaceable(call->name)) {
      calls_[call->name.text] |= call->abis;
    }
    if (const auto* library = std::get_if<ast::Library>(&item)) {
      for (const ast::Name& name : library->names) {
        for (const ast::Call& function : library->functions) {
          if (!is_replaceable(function.name)) {
            functions_.insert(key(name, function.name));
          }
        }
        for (const ast::Name& call : library->calls) {
          if (!is_replaceable(call)) {
            functions_.insert(key(name, call));
          }
        }
      }
    }
  }

  /// Returns whether the whole item is replaced. Removes the replaced functions of a library.
  bool is_replaced(ast::Item& item) {
    if (auto* call = std::get_if<ast::Call>(&item); call != nullptr && is_replaceable(call->name)) {
      const auto other = calls_.find(call->name.text);
      if (other != calls_.end()) {
        call->abis &= static_cast<AbiMask>(~other->second);
      }
      return call->abis == 0;
    }
    if (auto* library = std::get_if<ast::Library>(&item)) {
      const auto is_known = [&](const ast::Name& function) {
        return is_replaceable(function) &&
               std::any_of(library->names.begin(), library->names.end(),
                           [&](const auto& name) { return functions_.count(key(name, function)) != 0; });
      };
      std::erase_if(library->functions, [&](const ast::Call& function) { return is_known(function.name); });
      std::erase_if(library->calls, is_known);
    }
    return false;
  }

  std::size_t first_;
  std::unordered_map<std::string, AbiMask> calls_;
  std::set<std::string> functions_;
  std::set<std::pair<Abi, std::uint32_t>> numbers_;
};

}  // namespace

void replace(ast::Program& program) {
  if (program.first_replaceable) {
    Replacement(*program.first_replaceable).apply(program);
  }
}

}  // namespace tracer::sysc
