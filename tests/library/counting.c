// Calls abs() in ways that are hard to count in a process without a stop. The first argument says which.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef LIBRARY

int by_jump(int n);

/// Calls it by a pointer, and by a stub of the program from which it returns to here.
int plugin(int n) {
  return abs(n) + by_jump(n);
}

#else

__attribute__((optimize("O2"))) int by_jump(int n) {
  return abs(n);
}

static volatile int sum;
static volatile int signals;
static volatile int strays;
static jmp_buf back;

static void call(int times) {
  for (int i = 0; i < times; ++i) {
    sum += abs(i);
  }
}

/// A handler finds itself in code of a file, as without a tracer.
static void on_alarm(int number, siginfo_t* info, void* context) {
  Dl_info found;
  void* at = (void*)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
  (void)number;
  (void)info;
  strays += dladdr(at, &found) == 0;
  ++signals;
}

static int interrupted(int times) {
  struct sigaction action = {.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_RESTART};
  const struct itimerval often = {{0, 500}, {0, 500}};  // more than a stop takes on a busy machine
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  call(times);
  while (signals < 20) {
  }
  return strays == 0 ? 7 : 1;
}

static int descend(const void* left, const void* right) {
  static int depth;
  char letters[] = "ba";
  if (++depth < 10) {
    qsort(letters, 2, 1, descend);
  }
  --depth;
  sum += abs(*(const char*)left - *(const char*)right);
  return 0;
}

static int jump(const void* left, const void* right) {
  (void)left;
  (void)right;
  call(1);
  longjmp(back, 1);
}

static int in_children(int processes, int times) {
  int wrong = 0;
  for (int i = 0; i < processes; ++i) {
    if (fork() == 0) {
      call(times);
      const pid_t grandchild = fork();
      if (grandchild == 0) {
        call(times);
        _exit(0);
      }
      int status = 0;
      waitpid(grandchild, &status, 0);
      kill(getpid(), status == 0 ? SIGKILL : SIGTERM);
    }
  }
  for (int status = 0; wait(&status) > 0;) {
    wrong |= WTERMSIG(status) != SIGKILL;
  }
  return wrong ? 1 : 7;
}

/// Takes memory away that only a tracer can have put there. Returns how much there was.
static int unmap(const char* rights, const char* name) {
  char line[512];
  char own[16] = "";
  char file[256] = "";
  unsigned long start;
  unsigned long end;
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps) != NULL) {
    file[0] = '\0';
    sscanf(line, "%lx-%lx %15s %*s %*s %*s %255s", &start, &end, own, file);
    if (strcmp(own, rights) == 0 && strncmp(file, name, strlen(name)) == 0 && (*name != '\0' || *file == '\0')) {
      found += munmap((void*)start, end - start) == 0;
      break;
    }
  }
  fclose(maps);
  return found;
}

/// Puts a trap where a stub of the linkage table jumps: what a child has that is created while code is replaced there.
static int set_trap(void) {
  unsigned char* code = (unsigned char*)by_jump;
  int distance;
  memcpy(&distance, code + 1, sizeof distance);
  unsigned char* stub = code + 5 + distance;
  char* page = (char*)((unsigned long)stub & ~4095UL);
  stub += *stub == 0xf3 ? 4 : 0;  // endbr64
  if (*code != 0xe9 || mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
    return 0;
  }
  *stub = 0xcc;
  return mprotect(page, 8192, PROT_READ | PROT_EXEC) == 0;
}

static volatile int loaded;
static long calls_of_threads;

static void* call_until_loaded(void* left) {
  long calls = 0;
  for (int more = *(int*)left; more > 0; ++calls) {
    volatile int one = abs(-1);
    more -= one * loaded;
  }
  __atomic_fetch_add(&calls_of_threads, calls, __ATOMIC_SEQ_CST);
  return NULL;
}

/// Loads a library while threads call, and writes into a file how often they did.
static int load_beside_threads(const char* name, const char* file, int times) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) {
    pthread_create(&threads[i], NULL, call_until_loaded, &times);
  }
  void* library = dlopen(name, RTLD_NOW);
  int (*plugin)(int) = (int (*)(int))dlsym(library, "plugin");
  sum += plugin(1);
  loaded = 1;
  for (int i = 0; i < 4; ++i) {
    pthread_join(threads[i], NULL);
  }
  FILE* out = fopen(file, "w");
  fprintf(out, "%ld", calls_of_threads + 2);
  return fclose(out) == 0 ? 7 : 1;
}

int main(int argc, char** argv) {
  const char* way = argv[1];
  const int times = argc > 2 ? atoi(argv[2]) : 1;
  if (strcmp(way, "interrupted") == 0) {
    return interrupted(times);
  }
  if (strcmp(way, "children") == 0) {
    return in_children(10, times);
  }
  if (strcmp(way, "crowd") == 0) {
    return load_beside_threads(argv[3], argv[4], times);
  }
  call(times);
  if (strcmp(way, "exec") == 0) {
    execl(argv[0], argv[0], "once", argv[2], (char*)0);
  }
  if (strcmp(way, "deep") == 0) {
    char letters[] = "ba";
    qsort(letters, 2, 1, descend);
  }
  if (strcmp(way, "jumps") == 0 && setjmp(back) == 0) {
    char letters[] = "ba";
    qsort(letters, 2, 1, jump);
  }
  if (strcmp(way, "killed") == 0) {
    kill(getpid(), SIGKILL);
  }
  if (strcmp(way, "counters") == 0 && unmap("rw-s", "/memfd:") != 1) {
    return 1;
  }
  if (strcmp(way, "code") == 0 && unmap("r-xp", "") != 1) {
    return 1;
  }
  if (strcmp(way, "trap") == 0 && !set_trap()) {
    return 1;
  }
  if (strcmp(way, "library") == 0) {
    void* library = dlopen(argv[3], RTLD_NOW);
    int (*plugin)(int) = (int (*)(int))dlsym(library, "plugin");
    sum += plugin(1);
  }
  call(times);
  return 7;
}

#endif
