// Finds descriptions of functions in the debugging information of the modules that define or call them. Reads them only
// for functions that are called.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "debuginfo/prototype_questions.h"
#include "spec/growing_tables.h"
#include "trace/prototype_source.h"

namespace tracer::functions::library {

class DebugPrototypes final : public trace::PrototypeSource {
 public:
  /// Adds descriptions to `into`, which must outlive this and to which nothing else adds any more. `note` receives
  /// sentences about files that are too hard to read.
  DebugPrototypes(spec::GrowingTables& into, debuginfo::Targets targets, debuginfo::Reader::Note note)
      : questions_(into, targets, std::move(note)) {}

  const spec::Call* find(const trace::LibraryFunction& function, pid_t tid) override;

 private:
  static constexpr std::size_t max_files = 256;

  const spec::Call* look_up(const trace::LibraryFunction& function, pid_t tid);
  /// Returns null if the file cannot be opened.
  debuginfo::ReadFile* open(const trace::MappedFile& file, pid_t tid);

  debuginfo::PrototypeQuestions questions_;
  std::unordered_map<std::uint32_t, const spec::Call*> known_;  ///< by function number; null if there is none
  std::map<std::pair<std::uint64_t, std::string>, std::unique_ptr<debuginfo::ReadFile>> files_;
};

}  // namespace tracer::functions::library
