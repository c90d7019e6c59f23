/* Buckets of a logarithmic histogram: eight per power of two, so that a bucket is at most an eighth of its start wide.
 * Plain C, because BPF programs use it too. */
#ifndef TRACER_BASE_LATENCY_BUCKET_H
#define TRACER_BASE_LATENCY_BUCKET_H

enum { latency_buckets = 512 };

/* Returns the bucket of a time in nanoseconds; it is less than latency_buckets. */
static inline unsigned latency_bucket_of(unsigned long long time) {
  unsigned power = 0;
  for (unsigned step = 32; step != 0; step /= 2) {
    if (time >> (power + step) != 0) {
      power += step;
    }
  }
  return power < 3 ? (unsigned)time : (power - 2) * 8 + (unsigned)(time >> (power - 3) & 7);
}

/* Returns the shortest time of a bucket, in nanoseconds. */
static inline unsigned long long latency_bucket_start(unsigned bucket) {
  return bucket < 8 ? bucket : (8ULL + bucket % 8) << (bucket / 8 - 1);
}

#endif
