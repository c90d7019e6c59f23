#include "bpf/kernel_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <linux/bpf.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

#include "bpf/perf_tracepoint.h"

namespace tracer::bpf {
namespace {

Error failure(const std::string& what, int number) {
  return Error{number, fmt::format("{}: {}", what, std::strerror(number))};
}

bool is_of(const bpf_program* program, std::string_view kind) {
  return std::string_view(bpf_program__section_name(program)).substr(0, kind.size()) == kind;
}

/// Without one to spare, libbpf takes the kernel for one that knows nothing, and says EINVAL.
bool has_few_descriptors() {
  constexpr rlim_t enough = 64;
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < enough;
}

/// Not attached with the others: iterators are run one by one, and functions may be missing.
bool is_single(const bpf_program* program) {
  return is_of(program, "iter/") || is_of(program, "fentry/");
}

/// Kernels before 5.11 count what BPF takes as locked memory. Lifts the limit as long as it lives, if we may: the
/// programs that we start later shall have the limit that we were given.
class UnlimitedLocking {
 public:
  UnlimitedLocking() {
    const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
    lifted_ = ::getrlimit(RLIMIT_MEMLOCK, &given_) == 0 && ::setrlimit(RLIMIT_MEMLOCK, &unlimited) == 0;
  }
  ~UnlimitedLocking() {
    if (lifted_) {
      ::setrlimit(RLIMIT_MEMLOCK, &given_);
    }
  }
  UnlimitedLocking(const UnlimitedLocking&) = delete;
  UnlimitedLocking& operator=(const UnlimitedLocking&) = delete;

 private:
  rlimit given_{};
  bool lifted_ = false;
};

}  // namespace

void KernelPrograms::Free::operator()(bpf_object* object) const {
  bpf_object__close(object);
}

void KernelPrograms::Free::operator()(bpf_link* link) const {
  bpf_link__destroy(link);
}

KernelPrograms::KernelPrograms(bpf_object* object, KernelBtf kernel) : object_(object), kernel_(std::move(kernel)) {}
KernelPrograms::KernelPrograms(KernelPrograms&&) noexcept = default;
KernelPrograms& KernelPrograms::operator=(KernelPrograms&&) noexcept = default;

KernelPrograms::~KernelPrograms() {
  detach();
}

Result<KernelPrograms> KernelPrograms::open(std::span<const std::byte> object_file, const char* name) {
  libbpf_set_print(nullptr);   // what went wrong is said in one sentence
  libbpf_set_memlock_rlim(0);  // it would lift the limit for good
  KernelBtf kernel;
  const std::string excerpt = kernel.excerpt_path();
  bpf_object_open_opts options{};
  options.sz = sizeof options;
  options.object_name = name;
  options.btf_custom_path = excerpt.empty() ? nullptr : excerpt.c_str();
  bpf_object* object = bpf_object__open_mem(object_file.data(), object_file.size(), &options);
  if (object == nullptr) {
    return failure(std::string("the BPF programs of this build (") + name + ") cannot be read", errno);
  }
  return KernelPrograms(object, std::move(kernel));
}

void* KernelPrograms::initial(const char* section, std::size_t size) {
  bpf_map* map = bpf_object__find_map_by_name(object_.get(), section);
  std::size_t there = 0;
  const void* contents = map == nullptr ? nullptr : bpf_map__initial_value(map, &there);
  require(contents != nullptr && there >= size, "a data section of a BPF object");
  return const_cast<void*>(contents);  // libbpf's own skeletons write there, too
}

Result<Mapping> KernelPrograms::mapped(const char* map, std::size_t size) const {
  Mapping mapping = map_file(map_fd(map), size, PROT_READ | PROT_WRITE, MAP_SHARED);
  if (!mapping) {
    return failure("the data of the BPF programs cannot be mapped", errno);
  }
  return mapping;
}

Result<void*> KernelPrograms::live(const char* section, std::size_t size) {
  auto mapping = mapped(section, size);
  if (!mapping) {
    return mapping.error();
  }
  return mappings_.emplace_back(std::move(mapping).value()).get();
}

Status KernelPrograms::fill(const char* map, std::span<const std::byte> elements) {
  if (elements.empty()) {
    return Done{};
  }
  const auto mapping = mapped(map, elements.size());
  if (!mapping) {
    return mapping.error();
  }
  std::copy(elements.begin(), elements.end(), static_cast<std::byte*>(mapping.value().get()));
  return Done{};
}

void KernelPrograms::leave_out(const char* program) {
  bpf_program__set_autoload(bpf_object__find_program_by_name(object_.get(), program), false);
}

void KernelPrograms::leave_out_unless_possible(const char* program) {
  // Some kernels have no trampolines, and others no such function: the kernel says so to a program that does nothing.
  bpf_program* wanted = bpf_object__find_program_by_name(object_.get(), program);
  require(wanted != nullptr, "a program of a BPF object");
  const std::string_view section = bpf_program__section_name(wanted);
  const bpf_insn nothing[] = {{BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0}, {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
  bpf_prog_load_opts options{};
  options.sz = sizeof options;
  options.expected_attach_type = BPF_TRACE_FENTRY;
  options.attach_btf_id = kernel_->function(std::string(section.substr(section.find('/') + 1)).c_str());
  const UnlimitedLocking unlimited;
  const UniqueFd tried(options.attach_btf_id == 0 ? -1
                                                  : bpf_prog_load(BPF_PROG_TYPE_TRACING, nullptr, "GPL", nothing,
                                                                  std::size(nothing), &options));
  if (!tried.valid()) {
    leave_out(program);
  }
}

void KernelPrograms::attach_as(const char* program, unsigned type) {
  bpf_program__set_expected_attach_type(bpf_object__find_program_by_name(object_.get(), program),
                                        static_cast<bpf_attach_type>(type));
}

const bpf_program* KernelPrograms::program(const char* name) const {
  return bpf_object__find_program_by_name(object_.get(), name);
}

void KernelPrograms::resize(const char* map, std::uint32_t entries) {
  bpf_map__set_max_entries(bpf_object__find_map_by_name(object_.get(), map), entries);
}

Status KernelPrograms::load() {
  if (std::string why = why_not_loadable(); !why.empty()) {
    return Error{EPERM, std::move(why)};
  }
  if (!kernel_->excerpt_path().empty()) {
    if (Status written = kernel_->write_excerpt(bpf_object__btf(object_.get())); !written) {
      return written;
    }
  }
  const UnlimitedLocking unlimited;
  const int result = bpf_object__load(object_.get());
  kernel_.reset();
  if (result == 0) {
    return Done{};
  }
  if (result == -EACCES) {
    return Error{EACCES,
                 "the kernel does not accept the BPF programs: a security module stands between, or its verifier does "
                 "not see that they are safe, which is worth a report that names the kernel (uname -a)"};
  }
  if (result == -EPERM) {
    return Error{EPERM,
                 "the kernel refuses to load BPF programs though the capabilities are there: a container's seccomp "
                 "filter or a security module stands between, or this is not the first user namespace"};
  }
  if (result == -EMFILE || result == -ENFILE || result == -ENOMEM || has_few_descriptors()) {
    return failure("there is no room for the BPF programs (ulimit -n, -l and -v, and the memory of the control group)",
                   has_few_descriptors() ? EMFILE : -result);
  }
  return failure("the kernel cannot run the BPF programs (Linux 5.12 is the oldest that might)", -result);
}

Status KernelPrograms::attach() {
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object_.get()) {
    if (!bpf_program__autoload(program) || is_single(program)) {
      continue;
    }
    if (const Status attached = is_of(program, "tp/") ? attach_by_perf(program) : attach(program); !attached) {
      return attached.error();
    }
  }
  return Done{};
}

Status KernelPrograms::attach(const bpf_program* program) {
  return own(bpf_program__attach(program), program);
}

Status KernelPrograms::attach_by_perf(const bpf_program* program) {
  auto event = open_tracepoint(bpf_program__section_name(program) + std::strlen("tp/"));
  if (!event) {
    return event.error();
  }
  bpf_link* link = bpf_program__attach_perf_event(program, event.value().get());
  if (link != nullptr) {
    static_cast<void>(event.value().release());  // it is the link's now
  }
  return own(link, program);
}

Status KernelPrograms::own(bpf_link* link, const bpf_program* program) {
  if (link == nullptr) {
    return failure(std::string("the kernel does not let BPF watch ") + bpf_program__section_name(program), errno);
  }
  links_.emplace_back(link);
  return Done{};
}

void KernelPrograms::attach_if_possible(const char* name) {
  const bpf_program* wanted = program(name);
  require(wanted != nullptr, "a program of a BPF object");
  if (bpf_program__autoload(wanted)) {
    static_cast<void>(attach(wanted));
  }
}

void KernelPrograms::detach() {
  links_.clear();
}

Status KernelPrograms::iterate(const char* name) {
  const bpf_program* program = bpf_object__find_program_by_name(object_.get(), name);
  require(program != nullptr, "an iterator of a BPF object");
  const std::unique_ptr<bpf_link, Free> link(bpf_program__attach_iter(program, nullptr));
  if (!link) {
    return failure("the kernel does not let BPF look through its threads", errno);
  }
  const UniqueFd walk(bpf_iter_create(bpf_link__fd(link.get())));
  if (!walk.valid()) {
    return failure("the kernel does not let BPF look through its threads", errno);
  }
  char nothing[64];
  ssize_t got = 0;
  do {
    got = ::read(walk.get(), nothing, sizeof nothing);
  } while (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN)));
  return got == 0 ? Status(Done{}) : failure("BPF could not look through the kernel's threads", errno);
}

int KernelPrograms::map_fd(const char* map) const {
  return bpf_object__find_map_fd_by_name(object_.get(), map);
}

std::size_t KernelPrograms::map_entries(const char* map) const {
  return bpf_map__max_entries(bpf_object__find_map_by_name(object_.get(), map));
}

std::uint64_t KernelPrograms::missed_runs() const {
  std::uint64_t missed = 0;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object_.get()) {
    const std::string second = std::string(bpf_program__name(program)) + "_again";
    if (bpf_program__fd(bpf_object__find_program_by_name(object_.get(), second.c_str())) >= 0) {
      continue;
    }
    bpf_prog_info info{};
    __u32 size = sizeof info;
    if (bpf_program__fd(program) >= 0 && bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0) {
      missed += info.recursion_misses;
    }
  }
  return missed;
}

}  // namespace tracer::bpf
