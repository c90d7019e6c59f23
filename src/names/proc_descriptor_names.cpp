#include "names/proc_descriptor_names.h"

#include <string>

#include "base/read_file.h"
#include "names/descriptor_text.h"
#include "names/drivers.h"
#include "names/socket_text.h"
#include "proc/proc_text.h"
#include "trace/task_snapshot.h"

namespace tracer::names {
namespace {

/// Returns the text of the link in /proc.
std::string link_of(const trace::OpenFile& file) {
  return file.link + (file.deleted ? " (deleted)" : "");
}

}  // namespace

void LastAddresses::complete(trace::SocketFacts& socket) {
  Seen& seen = seen_[socket.inode % seen_.size()];
  if (socket.local) {
    seen = {socket.inode, socket.local, socket.remote};
  } else if (seen.inode == socket.inode) {
    socket.local = seen.local;
    socket.remote = seen.remote;
  }
}

std::optional<trace::OpenFile> ProcDescriptorNames::open_file(const Task& task, std::int32_t fd) {
  if (task.snapshot == nullptr) {
    return files_.file(task.tid, fd);
  }
  auto file = task.snapshot->descriptor(fd);
  if (file && file->counter) {
    file->counter = files_.as_fdinfo_has_it(*file->counter);
  }
  return file;
}

DescriptorName ProcDescriptorNames::descriptor(const Task& task, std::int32_t fd) {
  return options_.any_descriptors() ? name_of(open_file(task, fd)) : DescriptorName{};
}

DescriptorName ProcDescriptorNames::name_of(std::optional<trace::OpenFile> file) {
  text_.clear();
  if (!file) {
    return {};
  }
  if (file->socket) {
    addresses_.complete(*file->socket);
  }
  if (append_detail(*file)) {
    return {text_.view(), false};
  }
  if (!options_.paths) {
    return {};
  }
  append_escaped_name(text_, file->link, options_.hex);
  return {text_.view(), file->deleted};
}

/// Appends what -yy shows beyond the path; returns false, with nothing appended, if there is nothing.
bool ProcDescriptorNames::append_detail(const trace::OpenFile& file) {
  if (options_.sockets && file.socket) {
    if (!append_socket(text_, *file.socket, options_.hex)) {
      append_escaped_name(text_, file.link, format::HexStrings::none);  // socket:[N], which -xx leaves as it is
    }
    return true;
  }
  if (options_.pidfds && file.process) {
    return append_process(text_, {file.process->id, options_.commands ? file.process->command : std::string{}},
                          options_.hex);
  }
  if (options_.eventfds && file.counter) {
    append_counter(text_, *file.counter);
    return true;
  }
  if (options_.signalfds && file.signals) {
    append_signals(text_, *file.signals, options_.constants);
    return true;
  }
  if (options_.devices && file.device && !file.deleted) {
    append_device(text_, file, *file.device, options_.hex);
    return true;
  }
  return false;
}

std::string_view ProcDescriptorNames::path(const Task& task, std::int32_t fd) {
  text_.clear();
  if (task.snapshot == nullptr) {
    text_.append(read_link(proc::descriptor_path(task.tid, fd)));
  } else if (const auto file = task.snapshot->descriptor(fd)) {
    text_.append(link_of(*file));
  }
  return text_.view();
}

std::int32_t ProcDescriptorNames::netlink_protocol(const Task& task, std::int32_t fd) {
  return task.snapshot != nullptr ? task.snapshot->netlink_protocol(fd) : files_.netlink_protocol(task.tid, fd);
}

std::string_view ProcDescriptorNames::drivers(const Task& task, std::int32_t fd) {
  text_.clear();
  append_drivers(text_, task, fd);
  return text_.view();
}

DescriptorName ProcDescriptorNames::descriptor_behind(const Task& task, std::int32_t pidfd, std::int32_t fd) {
  text_.clear();
  if (!options_.any_descriptors()) {
    return {};
  }
  if (task.snapshot != nullptr) {
    return name_of(task.snapshot->descriptor_behind(fd));
  }
  const std::int32_t process = files_.process(task.tid, pidfd).id;
  return process > 0 ? descriptor({process}, fd) : DescriptorName{};
}

DescriptorName ProcDescriptorNames::descriptor_of(const Task& task, std::int32_t pid, std::int32_t fd) {
  text_.clear();
  if (!options_.any_descriptors()) {
    return {};
  }
  if (task.snapshot != nullptr) {
    return name_of(task.snapshot->descriptor_of(pid, fd));
  }
  const std::int32_t process = pids_.here(task.tid, pid, PidKind::process);
  return process > 0 ? descriptor({process}, fd) : DescriptorName{};
}

std::string_view ProcDescriptorNames::current_directory(const Task& task) {
  if (!options_.paths) {
    return {};
  }
  text_.clear();
  if (task.snapshot == nullptr) {
    append_escaped_name(text_, read_link(proc::proc_path(task.tid, "cwd")), options_.hex);
  } else if (const auto directory = task.snapshot->working_directory()) {
    append_escaped_name(text_, link_of(*directory), options_.hex);
  }
  return text_.view();
}

}  // namespace tracer::names
