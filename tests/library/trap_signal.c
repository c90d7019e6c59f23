// Programs that block, ignore and handle SIGTRAP, and raise it themselves, between calls of functions: each ends with
// 7, as it does untraced.
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int hits;
static volatile int code;

static void on_trap(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  ++hits;
  code = info->si_code;
}

static volatile int early_hits;

static void raise_trap(int number) {
  (void)number;
  raise(SIGTRAP);
  early_hits = hits;
}

static void calls(void) {
  for (int i = 0; i < 5; ++i) {
    getppid();
  }
}

static sigset_t trap_set(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTRAP);
  return set;
}

static void change_mask(int how) {
  const sigset_t set = trap_set();
  sigprocmask(how, &set, 0);
}

static int is_blocked(void) {
  sigset_t set;
  sigprocmask(SIG_SETMASK, 0, &set);
  return sigismember(&set, SIGTRAP);
}

static int is_pending(void) {
  sigset_t set;
  sigpending(&set);
  return sigismember(&set, SIGTRAP);
}

static void handle_traps(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, 0);
}

// Raises it in a handler that blocks all signals.
static void raise_in_handler(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = raise_trap;
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR1, &action, 0);
  raise(SIGUSR1);
}

static void* blocking_thread(void* unused) {
  (void)unused;
  calls();
  raise(SIGTRAP);
  calls();
  return (void*)(intptr_t)(is_blocked() && is_pending());
}

static int ignoring(void) {
  signal(SIGTRAP, SIG_IGN);
  calls();
  raise(SIGTRAP);
  calls();
  return 1;
}

static int blocking(void) {
  change_mask(SIG_BLOCK);
  calls();
  raise(SIGTRAP);
  calls();
  return is_blocked() && is_pending();
}

static int blocking_and_ignoring(void) {
  signal(SIGTRAP, SIG_IGN);
  change_mask(SIG_BLOCK);
  calls();
  const int was_blocked = is_blocked();
  change_mask(SIG_UNBLOCK);
  calls();
  raise(SIGTRAP);
  return was_blocked && !is_blocked();
}

static int handling(void) {
  handle_traps();
  calls();
  raise(SIGTRAP);
  calls();
#if defined(__x86_64__) || defined(__i386__)
  __asm__ volatile("int3");
#else
  raise(SIGTRAP);
#endif
  calls();
  return hits == 2;
}

static int holding(void) {
  handle_traps();
  change_mask(SIG_BLOCK);
  calls();
  raise(SIGTRAP);
  calls();
  const int held = hits == 0;
  change_mask(SIG_UNBLOCK);
  calls();
  struct sigaction now;
  sigaction(SIGTRAP, 0, &now);
  return held && hits == 1 && code == SI_TKILL && now.sa_sigaction == on_trap;
}

static int masking(void) {
  handle_traps();
  raise_in_handler();
  calls();
  return early_hits == 0 && hits == 1 && !is_blocked();
}

static int masking_and_ignoring(void) {
  signal(SIGTRAP, SIG_IGN);
  raise_in_handler();
  calls();
  raise(SIGTRAP);
  return !is_blocked();
}

static int threading(void) {
  change_mask(SIG_BLOCK);
  pthread_t thread;
  void* result = 0;
  pthread_create(&thread, 0, blocking_thread, 0);
  calls();
  pthread_join(thread, &result);
  return result != 0 && is_blocked();
}

static int forking(void) {
  signal(SIGTRAP, SIG_IGN);
  const pid_t child = fork();
  if (child == 0) {
    ignoring();
    change_mask(SIG_BLOCK);
    calls();
    _exit(is_blocked() ? 3 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  raise(SIGTRAP);
  return WIFEXITED(status) && WEXITSTATUS(status) == 3;
}

static int waiting(void) {
  const sigset_t set = trap_set();
  change_mask(SIG_BLOCK);
  calls();
  kill(getpid(), SIGTRAP);
  calls();
  siginfo_t info;
  const int got = sigwaitinfo(&set, &info);
  calls();
  return got == SIGTRAP && is_blocked();
}

static int executed(void) {
  calls();
  raise(SIGTRAP);
  return 1;
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "executing") == 0) {
    signal(SIGTRAP, SIG_IGN);
    calls();
    execl("/proc/self/exe", argv[0], "executed", (char*)0);
  }
  const int right = strcmp(what, "ignoring") == 0                ? ignoring()
                    : strcmp(what, "blocking") == 0              ? blocking()
                    : strcmp(what, "blocking_and_ignoring") == 0 ? blocking_and_ignoring()
                    : strcmp(what, "handling") == 0              ? handling()
                    : strcmp(what, "holding") == 0               ? holding()
                    : strcmp(what, "masking") == 0               ? masking()
                    : strcmp(what, "masking_and_ignoring") == 0  ? masking_and_ignoring()
                    : strcmp(what, "threading") == 0             ? threading()
                    : strcmp(what, "forking") == 0               ? forking()
                    : strcmp(what, "waiting") == 0               ? waiting()
                    : strcmp(what, "executed") == 0              ? executed()
                                                                 : 0;
  calls();
  return right ? 7 : 1;
}
