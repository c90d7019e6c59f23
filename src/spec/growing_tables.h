// Tables that gain descriptions while they are in use.
#pragma once

#include <string_view>
#include <unordered_map>

#include "spec/table_set.h"

namespace tracer::spec {

/// What is there keeps its index and its place in memory. There is room for a number of entries that no honest program
/// comes near to; beyond it is_full(), and what is added then means nothing.
class GrowingTables {
 public:
  /// `tables` is what everybody looks at; it outlives this, and so does what it looks at now.
  explicit GrowingTables(Tables& tables) : tables_(tables) {}
  GrowingTables(const GrowingTables&) = delete;
  GrowingTables& operator=(const GrowingTables&) = delete;

  StringRef text(std::string_view text);
  ExprId literal(std::int64_t value);
  /// What parameter number `param` of the call is given.
  ExprId argument(std::size_t param);
  SetId add(const ConstantSet& set, ConstantGroup group, const std::vector<Constant>& constants);
  TypeId add(const Type& type);
  /// Returns the structure's own type.
  TypeId add(Struct structure, const std::vector<Field>& fields);
  /// All of `others` but its numbers of system calls. Of functions, there must be none that is known already.
  void add(const TableSet& others);
  const Call* add(Call call, Signature signature, const std::vector<Param>& params);
  /// A pointer to a type that the descriptions call so, `*custom NAME`; `none`: they do not.
  TypeId pointer_to_custom(std::string_view name);

  [[nodiscard]] bool is_full() const { return full_; }
  /// With all that was added.
  [[nodiscard]] const Tables& tables() const { return tables_; }

 private:
  void begin();
  template <typename T>
  Range append(std::vector<T>& all, const std::vector<T>& run);

  Tables& tables_;
  TableSet set_;
  std::unordered_map<std::string, StringRef> texts_;  ///< that were added
  bool begun_ = false;
  bool full_ = false;
};

}  // namespace tracer::spec
