/* Finds the capture plan of a call among those that the loader has made. */
#ifndef TRACER_BPF_PLANS_BPF_H
#define TRACER_BPF_PLANS_BPF_H

#include "bpf/kernel/operations.bpf.h"
#include "bpf/kernel/scratch.bpf.h"
#include "bpf/tracing.h"

#include <bpf/bpf_helpers.h>

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, watched_abis* numbers_per_abi);
  __type(key, __u32);
  __type(value, struct capture_plan);
} plans SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct form_plan);
} forms SEC(".maps");

/* Finds the plan of a call whose arguments are in the first slots. Verified once, as it is nobody's own. */
__noinline int choose_plan(__u32 slot) {
  const struct capture_plan nothing = {.arguments = most_arguments};
  struct scratch* s = own_scratch();
  const struct capture_plan* plan = bpf_map_lookup_elem(&plans, &slot);
  if (!s) {
    return 0;
  }
  if (!plan) {
    s->plan = nothing;
    return 0;
  }
  s->plan = *plan;
  if (plan->chooser >= most_arguments) {
    return 0;
  }
  const __u32 value = (__u32)s->slot[plan->chooser % slots] & plan->chooser_bits;
  const __u32 place = place_of_form(slot, value);
  for (__u32 i = 0; i < most_form_steps; ++i) {
    const __u32 at = (place + i) & settings.form_mask;
    const struct form_plan* form = bpf_map_lookup_elem(&forms, &at);
    if (!form || form->slot == 0) {
      break;
    }
    if (form->slot == slot + 1 && form->value == value) {
      s->plan = form->plan;
      break;
    }
  }
  return 0;
}

#endif
