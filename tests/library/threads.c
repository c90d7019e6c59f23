// THREADS threads that call one function CALLS times each.
#include <pthread.h>
#include <stdlib.h>

static int calls;

static void* work(void* unused) {
  long sum = 0;
  for (int i = 0; i < calls; ++i) {
    sum += abs(-i);
  }
  (void)unused;
  return (void*)sum;
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1;
  calls = argc > 2 ? atoi(argv[2]) : 1;
  pthread_t* threads = calloc((size_t)count, sizeof *threads);
  long wanted = (long)calls * (calls - 1) / 2;
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    wrong |= pthread_create(&threads[i], NULL, work, NULL);
  }
  for (int i = 0; i < count; ++i) {
    void* sum;
    pthread_join(threads[i], &sum);
    wrong |= (long)sum != wanted;
  }
  free(threads);
  return wrong ? 1 : 7;
}
