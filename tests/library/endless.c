// Calls functions and the system in five threads until SIGTERM, and says then whether all were
// right. SIGTERM may come once its output ends.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t stop;

static void on_term(int signal) {
  (void)signal;
  stop = 1;
}

static void* work(void* unused) {
  long wrong = 0;
  for (int i = 0; !stop; ++i) {
    wrong |= abs(-i) != i || getppid() < 0;
    i &= 0xffff;
  }
  (void)unused;
  return (void*)wrong;
}

int main(void) {
  pthread_t threads[4];
  signal(SIGTERM, on_term);
  close(STDOUT_FILENO);
  for (int i = 0; i < 4; ++i) {
    pthread_create(&threads[i], NULL, work, NULL);
  }
  long wrong = (long)work(NULL);
  for (int i = 0; i < 4; ++i) {
    void* result;
    pthread_join(threads[i], &result);
    wrong |= (long)result;
  }
  return wrong ? 1 : 9;
}
