// What decoding one event needs beside the event itself: the recorder collects it, the replay answers with it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replay/ranges.h"
#include "trace/library_call.h"
#include "trace/stack.h"
#include "trace/task_snapshot.h"

namespace tracer::replay {

/// A descriptor, of which process, and the file behind it.
struct FileFact {
  enum class Owner : std::uint8_t {
    task,       ///< the task itself
    pidfd,      ///< the process behind a pidfd among the arguments
    process,    ///< the process that has the id `pid` for the task
    directory,  ///< no descriptor: the current directory of the task
  };
  Owner owner = Owner::task;
  std::int32_t pid = 0;
  std::int32_t fd = 0;
  std::shared_ptr<const trace::OpenFile> file;  ///< never null

  [[nodiscard]] bool is(Owner whose, std::int32_t number, std::int32_t descriptor) const {
    return owner == whose && pid == number && fd == descriptor;
  }
};

/// What has a number, and a name at that time.
struct NameFact {
  enum class Kind : std::uint8_t { function, interface, generic_family };
  Kind kind = Kind::function;
  std::uint64_t number = 0;
  std::string name;
};

/// A register that belongs to a function call.
struct RegisterFact {
  enum class Kind : std::uint8_t { vector, x87, error_number };
  Kind kind = Kind::vector;
  unsigned index = 0;
  trace::CallContext::Value value{};  ///< of an errno the first four bytes, in little endian
};

/// A stack frame with texts of its own.
struct FrameFact {
  trace::StackFrame::Kind kind = trace::StackFrame::Kind::code;
  std::string file;
  std::string symbol;
  std::string source;
  std::uint64_t symbol_offset = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t address = 0;
  bool inlined = false;
  unsigned line = 0;
};

struct Facts {
  Ranges memory;
  std::vector<FileFact> files;
  std::vector<std::pair<std::int32_t, std::int32_t>> netlink_protocols;  ///< descriptor and protocol
  std::vector<std::pair<std::int32_t, std::string>> drivers;  ///< descriptor, and what its driver is known as
  std::vector<std::pair<std::int32_t, trace::TaskSnapshot::Process>> processes;  ///< id for the task, and what has it
  std::vector<NameFact> names;
  std::vector<RegisterFact> registers;
  std::optional<std::string> command;  ///< of the thread of the event, if it may have changed
  std::vector<FrameFact> frames;       ///< innermost first; empty: unknown

  void clear() {
    memory.clear();
    files.clear();
    netlink_protocols.clear();
    drivers.clear();
    processes.clear();
    names.clear();
    registers.clear();
    command.reset();
    frames.clear();
  }

  [[nodiscard]] const trace::OpenFile* file(FileFact::Owner owner, std::int32_t pid, std::int32_t fd) const {
    for (const FileFact& fact : files) {
      if (fact.is(owner, pid, fd)) {
        return fact.file.get();
      }
    }
    return nullptr;
  }
  [[nodiscard]] const std::string* name(NameFact::Kind kind, std::uint64_t number) const {
    for (const NameFact& fact : names) {
      if (fact.kind == kind && fact.number == number) {
        return &fact.name;
      }
    }
    return nullptr;
  }
  [[nodiscard]] const RegisterFact* find_register(RegisterFact::Kind kind, unsigned index) const {
    for (const RegisterFact& fact : registers) {
      if (fact.kind == kind && fact.index == index) {
        return &fact;
      }
    }
    return nullptr;
  }
};

}  // namespace tracer::replay
