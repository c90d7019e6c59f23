// libbpf learns the same of the kernel's types from an excerpt as from the whole.
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "catch.h"
#include "skip.h"

#include "bpf/kernel_btf.h"

namespace tracer::test {
namespace {

using Types = std::unique_ptr<btf, decltype(&btf__free)>;

Types owned(btf* types) {
  return {types, &btf__free};
}

using Places = std::map<std::string, std::pair<std::uint32_t, std::int64_t>>;

/// Where the members of a struct stand, in bits, and how many bytes they take.
Places places(const btf* types, const char* name) {
  const auto id = static_cast<std::uint32_t>(btf__find_by_name_kind(types, name, BTF_KIND_STRUCT));
  const btf_type* type = btf__type_by_id(types, id);
  Places result;
  for (std::uint32_t i = 0; type != nullptr && i < btf_vlen(type); ++i) {
    const btf_member& member = btf_members(type)[i];
    result[btf__name_by_offset(types, member.name_off)] = {btf_member_bit_offset(type, i),
                                                           btf__resolve_size(types, member.type)};
  }
  return result;
}

}  // namespace

TEST_CASE("An excerpt of the kernel's types says of them what the whole says", "[bpf]") {
  const Types whole = owned(btf__load_vmlinux_btf());
  if (!whole) {
    SKIP("the kernel does not describe its types");
  }
  const Types wanted = owned(btf__new_empty());
  btf__add_struct(wanted.get(), "task_struct___of_old", 0);
  btf__add_struct(wanted.get(), "file", 0);
  btf__add_struct(wanted.get(), "no_type_of_the_kernels", 0);
  bpf::KernelBtf kernel;
  REQUIRE(kernel.write_excerpt(wanted.get()));
  const Types excerpt = owned(btf__parse(kernel.excerpt_path().c_str(), nullptr));
  REQUIRE(excerpt);
  CHECK(places(excerpt.get(), "task_struct").at("comm").second == 16);
  CHECK(places(excerpt.get(), "task_struct") == places(whole.get(), "task_struct"));
  CHECK(places(excerpt.get(), "file") == places(whole.get(), "file"));
  CHECK(btf__find_by_name_kind(excerpt.get(), "mm_struct", BTF_KIND_STRUCT) < 0);
  CHECK(btf__type_cnt(excerpt.get()) < btf__type_cnt(whole.get()) / 10);
}

TEST_CASE("A function of the kernel's has the id that libbpf finds", "[bpf]") {
  const int id = libbpf_find_vmlinux_btf_id("do_exit", BPF_TRACE_FENTRY);
  bpf::KernelBtf kernel;
  CHECK(kernel.function("do_exit") == static_cast<std::uint32_t>(id < 0 ? 0 : id));
  CHECK(kernel.function("no_function_of_the_kernels") == 0);
}

}  // namespace tracer::test
