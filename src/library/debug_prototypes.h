// Descriptions of functions from the debugging information of the modules that define or call them. Nothing is read for
// functions that are not called.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "debuginfo/prototypes.h"
#include "spec/growing_tables.h"
#include "trace/prototype_source.h"

namespace tracer::library {

class DebugPrototypes final : public trace::PrototypeSource {
 public:
  /// Adds to `into`, which outlives this.
  explicit DebugPrototypes(spec::GrowingTables& into) : into_(into) {}

  const spec::Call* find(const trace::LibraryFunction& function, pid_t tid) override;

 private:
  static constexpr std::size_t most_files = 256;

  const spec::Call* look_up(const trace::LibraryFunction& function, pid_t tid);
  /// Null if it cannot be opened.
  debuginfo::Prototypes* open(const trace::MappedFile& file, pid_t tid);

  spec::GrowingTables& into_;
  std::unordered_map<std::uint32_t, const spec::Call*> known_;  ///< by the function's number; null: nobody knows
  std::map<std::pair<std::uint64_t, std::string>, std::unique_ptr<debuginfo::Prototypes>> files_;
};

}  // namespace tracer::library
