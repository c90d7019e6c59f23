#include "debuginfo/prototype_questions.h"

#include "debuginfo/prototypes.h"

namespace tracer::debuginfo {

namespace {

struct PrototypesState final : OpenedFile::State {
  PrototypesState(ObjectFiles& files, spec::GrowingTables& into, Targets targets) : prototypes(files, into, targets) {}

  Prototypes prototypes;
};

/// The tables, which the reader process has at the same address.
struct TablesInBoth {
  spec::GrowingTables* tables;
};

/// The question: the tables, what to show, the address of the function (0: its declaration is wanted), its name. The
/// answer: its place in the tables (`none`: unknown), and what was added to them.
void describe(OpenedFile& file, Input& question, Output& answer) {
  auto& into = *question.value<TablesInBoth>().tables;
  const auto targets = question.value<Targets>();
  const auto address = question.value<std::uint64_t>();
  const std::string name(question.text());
  if (!file.state) {
    file.state = std::make_unique<PrototypesState>(file.files, into, targets);
  }
  auto& prototypes = static_cast<PrototypesState&>(*file.state).prototypes;
  const spec::GrowingTables::Sizes before = into.sizes();
  const spec::Call* const found =
      address != 0 ? prototypes.find_definition(address, name) : prototypes.find_declaration(name);
  answer.value(found == nullptr ? spec::none : static_cast<spec::Index>(found - into.tables().calls.data()));
  const spec::GrowingTables::Growth growth = into.growth_since(before);
  answer.text(growth.strings);
  answer.values(growth.exprs);
  answer.values(growth.constants);
  answer.values(growth.groups);
  answer.values(growth.sets);
  answer.values(growth.types);
  answer.values(growth.structs);
  answer.values(growth.fields);
  answer.values(growth.params);
  answer.values(growth.signatures);
  answer.values(growth.calls);
}

}  // namespace

const spec::Call* PrototypeQuestions::find_definition(ReadFile& file, std::uint64_t address, std::string_view name) {
  return ask(file, address, name);
}

const spec::Call* PrototypeQuestions::find_declaration(ReadFile& file, std::string_view name) {
  return ask(file, 0, name);
}

const spec::Call* PrototypeQuestions::ask(ReadFile& file, std::uint64_t address, std::string_view name) {
  Output question;
  question.value(TablesInBoth{&into_});
  question.value(targets_);
  question.value(address);
  question.text(name);
  auto answer = reader_.ask(file, describe, question);
  if (!answer) {
    return nullptr;
  }
  const auto found = answer->value<spec::Index>();
  spec::GrowingTables::Growth growth;
  growth.strings = answer->text();
  growth.exprs = answer->values<spec::Expr>();
  growth.constants = answer->values<spec::Constant>();
  growth.groups = answer->values<spec::ConstantGroup>();
  growth.sets = answer->values<spec::ConstantSet>();
  growth.types = answer->values<spec::Type>();
  growth.structs = answer->values<spec::Struct>();
  growth.fields = answer->values<spec::Field>();
  growth.params = answer->values<spec::Param>();
  growth.signatures = answer->values<spec::Signature>();
  growth.calls = answer->values<spec::Call>();
  if (answer->bad()) {
    return nullptr;
  }
  into_.add(growth);
  return found < into_.tables().calls.size() && !into_.is_full() ? &into_.tables().calls[found] : nullptr;
}

}  // namespace tracer::debuginfo
