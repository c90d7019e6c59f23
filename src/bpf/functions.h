/* What the program that counts calls of functions and its loader share. Plain C, for both compilers. */
#ifndef TRACER_BPF_FUNCTIONS_H
#define TRACER_BPF_FUNCTIONS_H

#include <linux/types.h>

#include "bpf/pid_space.h"

enum {
  most_places = 65536,     /* of all processes together; a power of two */
  count_shards = 8,        /* so that CPUs seldom share a counter; a power of two */
  most_processes = 16384,  /* at a time */
  most_call_sites = 65536, /* at places where the caller matters */
};

enum place_flags {
  place_by_caller = 1, /* calls are counted by the address that they return to */
  place_is_stub = 2,   /* see FunctionCounter::Place */
  place_is_narrow = 4,
};

struct counted_place {
  __u32 process; /* as in the map `processes`; 0: the place does not count */
  __u32 flags;
  __u32 symbol;
  __u32 unused;
};

struct call_site {
  __u32 place;
  __u32 unused;
  __u64 return_address;
};

/* Written before the program is loaded, constant for the verifier. */
struct functions_settings {
  __u32 chosen; /* the kernel runs the program for the threads of a place's process alone */
};

struct functions_shared {
  __u64 lost;             /* calls whose caller could not be noted */
  struct pid_space space; /* the tracer's */
  __u64 clock;            /* of the programs, when they found that space */
};

struct function_counts {
  __u64 of[count_shards][most_places];
};

struct function_places {
  struct counted_place at[most_places];
};

#endif
