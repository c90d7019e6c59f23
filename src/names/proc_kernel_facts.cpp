#include "names/proc_kernel_facts.h"

#include <net/if.h>

#include <array>

#include "base/read_file.h"
#include "format/escape.h"
#include "proc/memory_map.h"
#include "proc/proc_text.h"

namespace tracer::names {
namespace {

/// Returns the start of the mapping of offset 0 of a file of that name; 0 if the thread has none.
RemoteAddr start_of_mapping(std::int32_t tid, std::string_view name) {
  RemoteAddr start;
  proc::for_each_range(proc::read_memory_map(tid), [&](const proc::MappedRange& range) {
    if (start.is_null() && range.file_offset == 0 && range.path == name) {
      start = RemoteAddr(range.start);
    }
  });
  return start;
}

}  // namespace

std::string_view ProcKernelFacts::function(const Task& task, RemoteAddr address) {
  text_.clear();
  if (functions_) {
    const std::string name = functions_(task.tid, address.value());
    format::append_escaped(text_, std::as_bytes(std::span(name)), {});
  }
  return text_.view();
}

std::string_view ProcKernelFacts::interface(std::uint32_t index) {
  std::array<char, IF_NAMESIZE> name{};
  text_.clear();
  if (index != 0 && if_indextoname(index, name.data()) != nullptr) {
    text_.append(std::string_view(name.data()));
  }
  return text_.view();
}

RemoteAddr ProcKernelFacts::vcpu_area(const Task& task, std::int32_t fd) {
  const std::string link = options_.vcpus ? read_link(proc::descriptor_path(task.tid, fd)) : std::string{};
  return link.starts_with("anon_inode:kvm-vcpu:") ? start_of_mapping(task.tid, link) : RemoteAddr{};
}

std::string_view ProcKernelFacts::descriptor_context(const Task& task, std::int32_t fd) {
  if (!contexts_.shown()) {
    return {};
  }
  text_.clear();
  contexts_.of_descriptor(text_, task.tid, fd);
  return text_.view();
}

std::string_view ProcKernelFacts::process_context(const Task& task, std::int32_t pid) {
  text_.clear();
  if (contexts_.shown()) {
    const std::int32_t here = pid == 0 ? task.tid : pids_.here(task.tid, pid, PidKind::process);
    if (here > 0) {
      contexts_.of_process(text_, here);
    }
  }
  return text_.view();
}

std::string_view ProcKernelFacts::path_context(const Task& task, std::int32_t directory, std::string_view path) {
  text_.clear();
  contexts_.of_path(text_, task.tid, directory, path);
  return text_.view();
}

}  // namespace tracer::names
