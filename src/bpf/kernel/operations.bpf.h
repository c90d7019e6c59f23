/* The operations of all capture plans, as the loader has made them. */
#ifndef TRACER_BPF_OPERATIONS_BPF_H
#define TRACER_BPF_OPERATIONS_BPF_H

#include "capture/plan.h"

#include <bpf/bpf_helpers.h>

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, most_operations);
  __type(key, __u32);
  __type(value, struct capture_operation);
} operations SEC(".maps");

#endif
