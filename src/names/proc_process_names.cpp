#include "names/proc_process_names.h"

#include <fmt/core.h>

#include <optional>

#include "base/read_file.h"
#include "names/descriptor_text.h"
#include "proc/proc_text.h"
#include "trace/task_snapshot.h"

namespace tracer::names {

std::string_view ProcProcessNames::process(const Task& task, std::int32_t pid) {
  text_.clear();
  if (!options_.commands || pid <= 0) {
    return {};
  }
  if (task.snapshot != nullptr) {
    if (const auto process = task.snapshot->process(pid)) {
      append_escaped_name(text_, process->command, options_.hex);
    }
  } else if (const std::int32_t here = pids_.here(task.tid, pid, PidKind::process); here != 0) {
    append_escaped_name(text_, proc::command_name(here), options_.hex);
  }
  return text_.view();
}

std::string_view ProcProcessNames::command(const Task& task) {
  text_.clear();
  const auto known = task.snapshot == nullptr ? std::nullopt : task.snapshot->command(task.tid);
  append_escaped_name(text_, known ? *known : proc::command_name(task.tid), options_.hex);
  return text_.view();
}

std::int32_t ProcProcessNames::process_here(const Task& task, std::int32_t pid, bool group) {
  if (!options_.pids_here || pid <= 0) {
    return 0;
  }
  std::int32_t here = 0;
  if (task.snapshot == nullptr) {
    here = pids_.here(task.tid, pid, group ? PidKind::group : PidKind::process);
  } else if (const auto captured = task.snapshot->process(pid);
             captured && (group ? captured->is_group : captured->is_thread)) {
    here = captured->id;
  }
  return here == pid ? 0 : here;
}

std::string_view ProcProcessNames::name_space(const Task& task, std::int32_t pid, std::string_view link) {
  std::int32_t whose = 0;
  if (options_.namespaces) {
    whose = pid == 0 ? task.tid : pids_.here(task.tid, pid, PidKind::process);
  }
  text_.clear();
  if (whose > 0) {
    text_.append(read_link(proc::proc_path(whose, fmt::format("ns/{}", link))));
  }
  return text_.view();
}

}  // namespace tracer::names
