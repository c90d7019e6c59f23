#include "names/descriptor_names.h"

#include <fmt/core.h>
#include <net/if.h>

#include <array>
#include <span>
#include <string>

#include "base/read_file.h"
#include "format/escape.h"
#include "names/descriptor_text.h"
#include "names/socket_text.h"
#include "proc/memory_map.h"
#include "proc/proc_text.h"

namespace tracer::names {
namespace {

/// Where a thread has the beginning of a file of that name in its memory; 0 if nowhere.
RemoteAddr start_of_mapping(std::int32_t tid, std::string_view name) {
  RemoteAddr start;
  proc::for_each_range(proc::read_memory_map(tid), [&](const proc::MappedRange& range) {
    if (start.is_null() && range.file_offset == 0 && range.path == name) {
      start = RemoteAddr(range.start);
    }
  });
  return start;
}

/// As the link in /proc had it.
std::string link_of(const trace::OpenFile& file) {
  return file.link + (file.deleted ? " (deleted)" : "");
}

}  // namespace

std::optional<trace::OpenFile> DescriptorNames::open_file(std::int32_t tid, std::int32_t fd) {
  if (capture() == nullptr) {
    return files_.file(tid, fd);
  }
  auto file = capture()->descriptor(fd);
  if (file && file->counter) {
    file->counter = files_.as_told_here(*file->counter);
  }
  return file;
}

decode::DescriptorName DescriptorNames::descriptor(std::int32_t tid, std::int32_t fd) {
  return name_of(options_.any_descriptors() ? open_file(tid, fd) : std::nullopt);
}

decode::DescriptorName DescriptorNames::name_of(const std::optional<trace::OpenFile>& file) {
  text_.clear();
  if (!file) {
    return {};
  }
  if (append_detail(*file)) {
    return {text_.view(), false};
  }
  if (!options_.paths) {
    return {};
  }
  append_escaped_name(text_, file->link);
  return {text_.view(), file->deleted};
}

/// What -yy tells beyond the path; false, with nothing appended, if there is nothing.
bool DescriptorNames::append_detail(const trace::OpenFile& file) {
  if (options_.sockets && file.socket) {
    append_socket(text_, *file.socket) ? void() : text_.append(file.link);
    return true;
  }
  if (options_.pidfds && file.process) {
    return append_process(text_, {file.process->id, options_.commands ? file.process->command : std::string{}});
  }
  if (options_.eventfds && file.counter) {
    append_counter(text_, *file.counter);
    return true;
  }
  if (options_.signalfds && file.signals) {
    append_signals(text_, *file.signals);
    return true;
  }
  if (options_.devices && file.device && !file.deleted) {
    append_device(text_, file.link, *file.device);
    return true;
  }
  return false;
}

std::string_view DescriptorNames::path(std::int32_t tid, std::int32_t fd) {
  text_.clear();
  if (capture() == nullptr) {
    text_.append(read_link(proc::descriptor_path(tid, fd)));
  } else if (const auto file = capture()->descriptor(fd)) {
    text_.append(link_of(*file));
  }
  return text_.view();
}

std::int32_t DescriptorNames::netlink_protocol(std::int32_t tid, std::int32_t fd) {
  return capture() != nullptr ? capture()->netlink_protocol(fd) : files_.netlink_protocol(tid, fd);
}

std::string_view DescriptorNames::process(std::int32_t tid, std::int32_t pid) {
  text_.clear();
  if (!options_.commands || pid <= 0) {
    return {};
  }
  if (capture() != nullptr) {
    const auto process = capture()->process(pid);
    process ? append_escaped_name(text_, process->command) : void();
  } else if (const std::int32_t here = pids_.here(tid, pid, PidKind::process); here != 0) {
    append_escaped_name(text_, proc::command_name(here));
  }
  return text_.view();
}

std::string_view DescriptorNames::command(std::int32_t tid) {
  text_.clear();
  const auto known = capture() == nullptr ? std::nullopt : capture()->command(tid);
  append_escaped_name(text_, known ? *known : proc::command_name(tid));
  return text_.view();
}

decode::DescriptorName DescriptorNames::descriptor_behind(std::int32_t tid, std::int32_t pidfd, std::int32_t fd) {
  text_.clear();
  if (!options_.any_descriptors()) {
    return {};
  }
  if (capture() != nullptr) {
    return name_of(capture()->descriptor_behind(fd));
  }
  const std::int32_t process = files_.process(tid, pidfd).id;
  return process > 0 ? descriptor(process, fd) : decode::DescriptorName{};
}

decode::DescriptorName DescriptorNames::descriptor_of(std::int32_t tid, std::int32_t pid, std::int32_t fd) {
  text_.clear();
  if (!options_.any_descriptors() || capture() != nullptr) {
    return {};
  }
  const std::int32_t process = pids_.here(tid, pid, PidKind::process);
  return process > 0 ? descriptor(process, fd) : decode::DescriptorName{};
}

std::int32_t DescriptorNames::process_here(std::int32_t tid, std::int32_t pid, bool group) {
  if (!options_.pids_here || pid <= 0) {
    return 0;
  }
  const auto captured = capture() == nullptr ? std::nullopt : capture()->process(pid);
  std::int32_t here = 0;
  if (capture() == nullptr) {
    here = pids_.here(tid, pid, group ? PidKind::group : PidKind::process);
  } else if (captured && (group ? captured->is_group : captured->is_thread)) {
    here = captured->id;
  }
  return here == pid ? 0 : here;
}

std::string_view DescriptorNames::function(std::int32_t tid, RemoteAddr address) {
  text_.clear();
  if (functions_) {
    const std::string name = functions_(tid, address.value());
    format::append_escaped(text_, std::as_bytes(std::span(name)), {});
  }
  return text_.view();
}

std::string_view DescriptorNames::interface(std::uint32_t index) {
  std::array<char, IF_NAMESIZE> name{};
  text_.clear();
  if (index != 0 && if_indextoname(index, name.data()) != nullptr) {
    text_.append(std::string_view(name.data()));
  }
  return text_.view();
}

std::string_view DescriptorNames::current_directory(std::int32_t tid) {
  if (!options_.paths) {
    return {};
  }
  text_.clear();
  if (capture() == nullptr) {
    append_escaped_name(text_, read_link(proc::proc_path(tid, "cwd")));
  } else if (const auto folder = capture()->working_directory()) {
    append_escaped_name(text_, link_of(*folder));
  }
  return text_.view();
}

RemoteAddr DescriptorNames::vcpu_area(std::int32_t tid, std::int32_t fd) {
  const std::string link = options_.vcpus ? read_link(proc::descriptor_path(tid, fd)) : std::string{};
  return link.starts_with("anon_inode:kvm-vcpu:") ? start_of_mapping(tid, link) : RemoteAddr{};
}

std::string_view DescriptorNames::name_space(std::int32_t tid, std::int32_t pid, std::string_view link) {
  const std::int32_t whose = !options_.namespaces ? 0 : pid == 0 ? tid : pids_.here(tid, pid, PidKind::process);
  text_.clear();
  if (whose > 0) {
    text_.append(read_link(proc::proc_path(whose, fmt::format("ns/{}", link))));
  }
  return text_.view();
}

std::string_view DescriptorNames::descriptor_context(std::int32_t tid, std::int32_t fd) {
  text_.clear();
  contexts_.of_descriptor(text_, tid, fd);
  return text_.view();
}

std::string_view DescriptorNames::process_context(std::int32_t tid, std::int32_t pid) {
  text_.clear();
  if (contexts_.shown()) {
    const std::int32_t here = pid == 0 ? tid : pids_.here(tid, pid, PidKind::process);
    here > 0 ? contexts_.of_process(text_, here) : void();
  }
  return text_.view();
}

std::string_view DescriptorNames::path_context(std::int32_t tid, std::int32_t directory, std::string_view path) {
  text_.clear();
  contexts_.of_path(text_, tid, directory, path);
  return text_.view();
}

}  // namespace tracer::names
