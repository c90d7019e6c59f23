// Stacks are unwound through functions: by an exception from a signal handler, by the end of a thread, by backtrace().
#include <execinfo.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

// Without the word that it throws nothing.
extern "C" std::size_t length_of(const char*) __asm__("strlen");

static const char* volatile nowhere = reinterpret_cast<const char*>(8);
static volatile int cleaned;
static volatile int frames;
static int ends[2];

static void refuse(int) {
  throw 5;
}
static void look(int) {
  void* addresses[64];
  frames = backtrace(addresses, 64);
}

static void* sleep_in_read(void*) {
  pthread_cleanup_push([](void*) { cleaned = 1; }, nullptr);
  char byte;
  while (read(ends[0], &byte, 1) != 1) {
  }
  pthread_cleanup_pop(0);
  return nullptr;
}

int main() {
  std::signal(SIGSEGV, refuse);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGSEGV);
  int caught = 0;
  for (int i = 0; i < 10; ++i) {
    try {
      caught += length_of(nowhere) == 3 ? 100 : 0;
    } catch (int number) {
      caught += number;
      sigprocmask(SIG_UNBLOCK, &set, nullptr);
    }
    try {
      throw std::runtime_error("a");
    } catch (const std::exception& error) {
      caught += static_cast<int>(std::strlen(error.what()));
    }
  }
  pthread_t thread;
  if (pipe(ends) != 0 || pthread_create(&thread, nullptr, sleep_in_read, nullptr) != 0) {
    return 1;
  }
  pthread_cancel(thread);
  pthread_join(thread, nullptr);
  std::signal(SIGALRM, look);
  ualarm(1000, 0);
  while (frames == 0) {
    caught += std::strlen("") != 0 ? 1 : 0;
  }
  std::printf("caught %d, cleaned %d, frames %d\n", caught, cleaned, frames > 2);
  return 9;
}
