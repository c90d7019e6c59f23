// Fills a TableSet. Equal strings, expressions, lists and types share one entry.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "spec/table_set.h"

namespace tracer::sysc {

class TableBuilder {
 public:
  spec::StringRef string(std::string_view text);
  /// Returns `none` for an empty text.
  spec::StringRef optional_string(std::string_view text) { return text.empty() ? spec::none : string(text); }
  spec::ExprId expr(const spec::Expr& expr);
  spec::ExprId literal(std::int64_t value) { return expr({spec::ExprOp::literal, spec::none, spec::none, value}); }
  /// Adds a literal, or a variable_literal if the values differ.
  spec::ExprId literal(const std::array<std::int64_t, abi_count>& values);
  spec::Range expr_list(const std::vector<spec::ExprId>& list);
  spec::TypeId type(const spec::Type& type);
  spec::CustomId custom(std::string_view name);
  spec::Index show(spec::ShowKind kind, const std::vector<spec::ShowPart>& parts);

  /// Evaluates an expression for an ABI. Returns false if the value differs between calls.
  [[nodiscard]] bool constant_value(spec::ExprId id, Abi abi, std::int64_t& value) const;

  spec::TableSet set;

 private:
  struct Hash {
    std::size_t operator()(const spec::Expr& e) const;
    std::size_t operator()(const spec::Type& t) const;
  };
  struct Equal {
    bool operator()(const spec::Expr& a, const spec::Expr& b) const;
    bool operator()(const spec::Type& a, const spec::Type& b) const;
  };

  std::unordered_map<std::string, spec::StringRef> strings_;
  std::unordered_map<std::string, spec::CustomId> customs_;
  std::unordered_map<spec::Expr, spec::ExprId, Hash, Equal> exprs_;
  std::unordered_map<spec::Type, spec::TypeId, Hash, Equal> types_;
  std::map<std::vector<spec::ExprId>, spec::Range> lists_;
  std::map<std::array<std::int64_t, abi_count>, spec::Index> abi_values_;
  std::map<std::vector<spec::Index>, spec::Index> shows_;
};

template <typename T>
spec::Index next_index(const std::vector<T>& entries) {
  return static_cast<spec::Index>(entries.size());
}

/// Appends entries that must be contiguous.
template <typename T>
spec::Range append(std::vector<T>& all, const std::vector<T>& run) {
  const spec::Range range{next_index(all), next_index(run)};
  all.insert(all.end(), run.begin(), run.end());
  return range;
}

}  // namespace tracer::sysc
