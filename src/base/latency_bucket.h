/* Times sorted into classes, eight to each power of two, so that a class is at most an eighth wide: what histograms
 * and percentiles are made of. Plain C, for programs in the kernel as well. */
#ifndef TRACER_BASE_LATENCY_BUCKET_H
#define TRACER_BASE_LATENCY_BUCKET_H

enum { latency_buckets = 512 };

/* The class of a time in nanoseconds, below latency_buckets. */
static inline unsigned latency_bucket_of(unsigned long long time) {
  unsigned power = 0;
  for (unsigned step = 32; step != 0; step /= 2) {
    if (time >> (power + step) != 0) {
      power += step;
    }
  }
  return power < 3 ? (unsigned)time : (power - 2) * 8 + (unsigned)(time >> (power - 3) & 7);
}

/* The shortest time of a class. */
static inline unsigned long long latency_bucket_start(unsigned bucket) {
  return bucket < 8 ? bucket : (8ULL + bucket % 8) << (bucket / 8 - 1);
}

#endif
