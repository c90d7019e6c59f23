/* Counts how often threads reach the first instruction of a function or stub. The counters change by atomic
 * instructions, because a thread that is preempted between reading and writing one would undo what others counted. */
#include "bpf/functions.h"
#include "bpf/kernel/kernel_types.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char licence[] SEC("license") = "Dual MIT/GPL";

SEC(".rodata.settings") const volatile struct functions_settings settings = {};
SEC(".data.shared") struct functions_shared shared = {};

#include "bpf/kernel/own_space.bpf.h"

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, count_shards* most_places);
  __type(key, __u32);
  __type(value, __u64);
} counts SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, most_places);
  __type(key, __u32);
  __type(value, struct counted_place);
} places SEC(".maps");

/* From the id of a process to the number that its places bear. Several processes can have the memory in common, and
 * with it the places of each. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, most_processes);
  __type(key, __u32);
  __type(value, __u32);
} processes SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, most_call_sites);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, struct call_site);
  __type(value, __u64);
} call_sites SEC(".maps");

/* The stub that a thread came to last. */
struct last_stub {
  __u64 stack_pointer;
  __u64 return_address;
  __u32 symbol;
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct last_stub);
} stubs SEC(".maps");

static __always_inline void count_call_site(__u32 place, __u64 return_address) {
  const struct call_site site = {place, 0, return_address};
  __u64* count = bpf_map_lookup_elem(&call_sites, &site);
  if (!count) {
    const __u64 none = 0;
    bpf_map_update_elem(&call_sites, &site, &none, BPF_NOEXIST);
    count = bpf_map_lookup_elem(&call_sites, &site); /* another CPU may have made it */
  }
  __sync_fetch_and_add(count ? count : &shared.lost, 1);
}

static __always_inline bool is_of_current(const struct counted_place* place) {
  if (settings.chosen) {
    return place->process != 0;
  }
  struct task_struct* task = bpf_get_current_task_btf();
  const __u32 id = id_in(BPF_CORE_READ(task, group_leader), shared.space);
  const __u32* process = bpf_map_lookup_elem(&processes, &id);
  return process && *process == place->process;
}

SEC("uprobe")
int on_place(struct pt_regs* regs) {
  const __u32 place = (__u32)bpf_get_attach_cookie(regs) & (most_places - 1);
  const struct counted_place* known = bpf_map_lookup_elem(&places, &place);
  if (!known || !is_of_current(known)) {
    return 0;
  }
  if (known->flags & (place_by_caller | place_is_stub)) {
    const __u64 stack_pointer = bpf_stack_pointer(regs);
    __u64 return_address = 0;
    if (!bpf_return_address(regs, known->flags & place_is_narrow ? 4 : 8, &return_address)) {
      __sync_fetch_and_add(&shared.lost, 1);
      return 0;
    }
    const bool by_caller = known->flags & place_by_caller;
    struct last_stub* stub =
        bpf_task_storage_get(&stubs, bpf_get_current_task_btf(), 0, by_caller ? 0 : BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (by_caller) {
      if (stub && stub->stack_pointer == stack_pointer && stub->return_address == return_address &&
          stub->symbol == known->symbol) {
        stub->symbol = 0;
        return 0;
      }
      count_call_site(place, return_address);
      return 0;
    }
    if (stub) {
      stub->stack_pointer = stack_pointer;
      stub->return_address = return_address;
      stub->symbol = known->symbol;
    }
  }
  const __u32 at = (bpf_get_smp_processor_id() & (count_shards - 1)) * most_places + place;
  __u64* count = bpf_map_lookup_elem(&counts, &at);
  if (count) {
    __sync_fetch_and_add(count, 1);
  }
  return 0;
}
