// Counting of function calls by uprobes. Private to this directory.
#pragma once

#include <bpf/libbpf.h>

#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <variant>

#include "bpf/functions.h"
#include "bpf/kernel_programs.h"
#include "trace/function_counter.h"

namespace tracer::bpf {

class UprobeCounter final : public trace::FunctionCounter {
 public:
  UprobeCounter(KernelPrograms programs, bool many_at_once, std::function<void(const std::string&)> complain);
  ~UprobeCounter() override;

  /// Puts the program into the kernel.
  Status load();

  void watch(pid_t process, const std::string& file, std::span<Place> places) override;
  bool share(pid_t child, pid_t parent) override;
  std::vector<Count> take(pid_t process) override;
  void forget(pid_t process, std::uint64_t start, std::uint64_t end) override;

 private:
  struct Free {
    void operator()(bpf_link* link) const { bpf_link__destroy(link); }
  };
  /// What holds uprobes in the kernel: a link for many, or libbpf's for one.
  using Probes = std::variant<UniqueFd, std::unique_ptr<bpf_link, Free>>;
  struct Process {
    std::uint32_t number = 0;
    std::map<std::uint64_t, std::uint32_t> places;  ///< by address
    std::map<std::uint64_t, Probes> probes;         ///< by an address of theirs; all of one file
    bool by_caller = false;
  };

  /// A place in a file: device, inode, offset.
  using FilePlace = std::tuple<dev_t, ino_t, std::uint64_t>;

  Process& process_of(pid_t id);
  /// Lets calls of the process count as those of `number`.
  bool set_number(pid_t id, std::uint32_t number);
  bool take(Process& process, const Place& place);
  void give_up(Process& process, const Place& place);
  void release(std::uint32_t place);
  void attach_many(pid_t id, Process& process, const std::string& file, std::span<const Place> places);
  void attach_single(pid_t id, Process& process, const std::string& file, std::span<const Place> places);
  void take_call_sites(const Process& process, std::vector<Count>& into);

  KernelPrograms programs_;
  bool many_at_once_;
  std::function<void(const std::string&)> complain_;
  functions_shared* shared_ = nullptr;
  function_counts* counts_ = nullptr;
  function_places* places_ = nullptr;
  std::map<pid_t, Process> processes_;
  std::map<FilePlace, bool> decided_;  ///< whether uprobes count there, or breakpoints
  std::size_t by_uprobes_ = 0;         ///< how many of them
  std::uint32_t last_process_ = 0;
  std::vector<std::uint32_t> free_places_;
  std::uint32_t fresh_places_ = 0;  ///< from here on none was used yet
};

}  // namespace tracer::bpf
