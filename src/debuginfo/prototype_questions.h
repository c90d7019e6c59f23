// Asks the reader process for descriptions of functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "debuginfo/reader.h"
#include "debuginfo/targets.h"
#include "spec/growing_tables.h"

namespace tracer::debuginfo {

/// All questions of a reader must be about the same tables, to which nothing else adds: the reader process has a copy
/// of them, and what it adds is added here.
class PrototypeQuestions {
 public:
  PrototypeQuestions(spec::GrowingTables& into, Targets targets, Reader::Note note)
      : into_(into), targets_(targets), reader_(std::move(note)) {}

  /// See Prototypes.
  const spec::Call* find_definition(ReadFile& file, std::uint64_t address, std::string_view name);
  const spec::Call* find_declaration(ReadFile& file, std::string_view name);

 private:
  const spec::Call* ask(ReadFile& file, std::uint64_t address, std::string_view name);

  spec::GrowingTables& into_;
  Targets targets_;
  Reader reader_;
};

}  // namespace tracer::debuginfo
