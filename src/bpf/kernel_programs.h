// Programs and maps in the kernel, for as long as their owner lives.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mapping.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "bpf/kernel_btf.h"

struct bpf_link;
struct bpf_map;
struct bpf_object;
struct bpf_program;

namespace tracer::bpf {

/// The programs of one object file. Nothing is pinned: when the process ends, however it ends, the kernel drops all.
class KernelPrograms {
 public:
  /// Reads an object file; nothing is in the kernel yet.
  static Result<KernelPrograms> open(std::span<const std::byte> object_file, const char* name);

  KernelPrograms(KernelPrograms&&) noexcept;
  KernelPrograms& operator=(KernelPrograms&&) noexcept;
  ~KernelPrograms();

  /// What a section of data, of C type T, shall hold when it is loaded.
  template <typename T>
  T& initial(const char* section) {
    return *static_cast<T*>(initial(section, sizeof(T)));
  }
  /// What it holds now, shared with the programs; after load(). So, too, of an array that can be mapped.
  template <typename T>
  Result<T*> live(const char* section) {
    Result<void*> mapped = live(section, sizeof(T));
    return mapped ? Result<T*>(static_cast<T*>(mapped.value())) : Result<T*>(mapped.error());
  }
  /// The same of all elements of an array.
  template <typename T>
  Result<std::span<T>> live_elements(const char* map) {
    const std::size_t count = map_entries(map);
    Result<void*> mapped = live(map, count * sizeof(T));
    return mapped ? Result<std::span<T>>(std::span(static_cast<T*>(mapped.value()), count))
                  : Result<std::span<T>>(mapped.error());
  }

  /// Writes into an array that can be mapped, from its start on; after load(). Its elements have to be as far from each
  /// other as the kernel has them: a multiple of eight bytes.
  Status fill(const char* map, std::span<const std::byte> elements);

  /// Leaves a program out that load() would load.
  void leave_out(const char* program);

  /// Says what else than its section names a program will be attached to (enum bpf_attach_type); before load().
  void attach_as(const char* program, unsigned type);
  [[nodiscard]] const bpf_program* program(const char* name) const;

  void resize(const char* map, std::uint32_t entries);

  /// Verification by the kernel. The error is one sentence with cause and remedy.
  Status load();

  /// Attaches every program to the tracepoint that its section names, by perf where that begins with tp/; iterators are
  /// attached by iterate(), and those that sit on a function of the kernel's by attach_if_possible().
  Status attach();
  /// Before load(): leaves a program out that sits on a function of the kernel's, if that cannot be here.
  void leave_out_unless_possible(const char* program);
  /// After load(); nothing happens if it was left out.
  void attach_if_possible(const char* program);
  void detach();

  /// Runs the iterator `program` over everything that there is.
  Status iterate(const char* program);

  [[nodiscard]] int map_fd(const char* map) const;
  [[nodiscard]] std::size_t map_entries(const char* map) const;

  /// How often the kernel did not run a program because it was running on the CPU already; where there is a second one
  /// for that, "NAME_again", how often that was not run.
  [[nodiscard]] std::uint64_t missed_runs() const;

 private:
  struct Free {
    void operator()(bpf_object* object) const;
    void operator()(bpf_link* link) const;
  };
  KernelPrograms(bpf_object* object, KernelBtf kernel);
  void* initial(const char* section, std::size_t size);
  [[nodiscard]] Result<Mapping> mapped(const char* map, std::size_t size) const;
  Result<void*> live(const char* section, std::size_t size);
  Status attach(const bpf_program* program);
  Status attach_by_perf(const bpf_program* program);
  Status own(bpf_link* link, const bpf_program* program);

  std::unique_ptr<bpf_object, Free> object_;
  std::optional<KernelBtf> kernel_;  ///< until they are loaded
  std::vector<Mapping> mappings_;
  std::vector<std::unique_ptr<bpf_link, Free>> links_;
};

/// Why BPF programs cannot be loaded here, as one sentence with the remedy; empty if nothing is known to stand against
/// it.
std::string why_not_loadable();

}  // namespace tracer::bpf
