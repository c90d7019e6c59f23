/* A PID namespace as the programs in the kernel know it. Plain C, for both compilers. */
#ifndef TRACER_BPF_PID_SPACE_H
#define TRACER_BPF_PID_SPACE_H

#include <linux/types.h>

struct pid_space {
  __u64 address; /* of the kernel's struct pid_namespace: others have the same level */
  __u32 level;   /* counted from the first one */
  __u32 unused;
};

#endif
