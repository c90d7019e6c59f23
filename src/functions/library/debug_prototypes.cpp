#include "functions/library/debug_prototypes.h"

#include "debuginfo/separate_files.h"
#include "proc/tracee_file.h"

namespace tracer::functions::library {

const spec::Call* DebugPrototypes::find(const trace::LibraryFunction& function, pid_t tid) {
  const auto [known, is_new] = known_.try_emplace(function.number, nullptr);
  if (is_new) {
    known->second = look_up(function, tid);
  }
  return known->second;
}

const spec::Call* DebugPrototypes::look_up(const trace::LibraryFunction& function, pid_t tid) {
  const spec::Call* found = nullptr;
  if (debuginfo::ReadFile* file = function.address != 0 ? open(function.defined_in, tid) : nullptr) {
    found = questions_.find_definition(*file, function.address, function.name);
  }
  if (debuginfo::ReadFile* file = found == nullptr ? open(function.called_from, tid) : nullptr) {
    found = questions_.find_declaration(*file, function.name);
  }
  return found;
}

debuginfo::ReadFile* DebugPrototypes::open(const trace::MappedFile& file, pid_t tid) {
  if (file.inode == 0) {
    return nullptr;
  }
  const auto known = files_.find({file.inode, file.path});
  if (known != files_.end() || files_.size() >= max_files) {
    return known == files_.end() ? nullptr : known->second.get();
  }
  auto& opened = files_[{file.inode, file.path}];
  proc::TraceeFile found = proc::open_mapped(tid, file.range, file.path, file.inode);
  if (found.descriptor.valid()) {
    opened = std::make_unique<debuginfo::ReadFile>(
        debuginfo::with_separate_files(std::move(found.descriptor), file.path, proc::Root::of(tid)));
  }
  return opened.get();
}

}  // namespace tracer::functions::library
