#include "app/list_probes.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <vector>

#include "base/printable.h"
#include "base/unique_fd.h"
#include "debuginfo/separate_files.h"
#include "functions/library/debug_symbols.h"
#include "functions/library/modules.h"
#include "proc/tracee_file.h"
#include "process/start_program.h"

namespace tracer::app {

namespace {

void append_module(std::string& text, const functions::library::ModuleFile& file,
                   const functions::library::DebugSymbols& more, const std::string& name) {
  const std::string at = '@' + name;
  for (const functions::library::StaticProbe& probe : file.probes()) {
    text += "usdt=" + probe.provider + ':' + probe.name + "    " + name + '(' + probe.argument_text + ")\n";
  }
  std::set<std::string_view> names;
  for (const functions::library::Slot& slot : file.slots()) {
    if (!slot.is_startup) {
      names.insert(slot.symbol);
    }
  }
  for (const std::string_view symbol : names) {
    text += "library=" + std::string(symbol) + at + '\n';
  }
  names.clear();
  for (const auto symbols : {file.exported(), file.all_functions(), more.functions()}) {
    for (const functions::library::Symbol& symbol : symbols) {
      names.insert(symbol.name);
    }
  }
  for (const std::string_view symbol : names) {
    text += "symbol=" + std::string(symbol) + at + '\n';
  }
}

}  // namespace

Result<std::string> list_of_probes(const std::string& program, const debuginfo::Reader::Note& note) {
  std::string text;
  debuginfo::Reader reader(note);
  const bool is_process = std::all_of(program.begin(), program.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (is_process) {
    functions::library::ModuleCache files;
    const auto pid = static_cast<pid_t>(std::strtol(program.c_str(), nullptr, 10));
    const auto modules = functions::library::modules_of(pid, files);
    if (modules.empty()) {
      return Error{ESRCH, "--list-probes: there is no process " + program + " whose memory may be looked at"};
    }
    for (const functions::library::Module& module : modules) {
      const bool stripped = module.file->all_functions().empty();
      debuginfo::ObjectFiles object{module.path, {}, {}, {}};
      if (stripped) {
        object.object = proc::open_mapped(pid, module.range, module.path, module.inode).descriptor;
      }
      if (object.object.valid() && module.is_program) {
        object = debuginfo::with_separate_files(std::move(object.object), module.path, proc::Root::of(pid));
      }
      const auto more = functions::library::DebugSymbols::read(std::move(object), reader);
      append_module(text, *module.file, *more, module.name);
    }
    return text;
  }
  const auto path = process::find_program(program);
  if (!path) {
    return path.error();
  }
  UniqueFd descriptor = proc::open_regular(path.value()).descriptor;
  if (!descriptor.valid()) {
    const int number = errno;
    return Error{number, "--list-probes: '" + path.value() + "': " + std::strerror(number)};
  }
  const std::string& name = path.value();
  const auto file = functions::library::ModuleFile::read(descriptor.get());
  if (!file) {
    return Error{ENOEXEC, "--list-probes: '" + path.value() + "' is no program or library that can be traced here"};
  }
  const bool stripped = file.value()->all_functions().empty();
  debuginfo::ObjectFiles object{name, {}, {}, {}};
  if (stripped) {
    object = debuginfo::with_separate_files(std::move(descriptor), std::filesystem::absolute(name), proc::Root::own());
  }
  const auto more = functions::library::DebugSymbols::read(std::move(object), reader);
  append_module(text, *file.value(), *more,
                file.value()->soname().empty() ? printable(name.substr(name.rfind('/') + 1))
                                               : std::string(file.value()->soname()));
  return text;
}

}  // namespace tracer::app
