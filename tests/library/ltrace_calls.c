// What ltrace shows around calls: nested ones, signals, children, the end.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int compare(const void* a, const void* b) {
  return *(const int*)a - *(const int*)b;
}

static void on_signal(int number) {
  getpid();
}

int main(int argc, char** argv) {
  char text[100];
  int numbers[3] = {3, 1, 2};
  printf("n=%d s=%s len=%zu\n", 42, "hello world", (size_t)11);
  char* p = malloc(32);
  strcpy(p, "a\"b\n\001\377z");
  puts(p);
  free(p);
  sprintf(text, "%c %f %x %s", 'z', 6.25, 255u, "y");
  close(77);
  fopen("/none", "r");
  qsort(numbers, 3, sizeof *numbers, compare);
  getenv("HOME");
  getenv("NOPE");
  memset(text, 'x', 10);
  memcpy(text, "q\0r", 4);
  write(1, "ab\0cd", 5);
  fputc('\'', stdout);
  fputc('"', stdout);
  toupper('a');
  isatty(1);
  getuid();
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigprocmask(SIG_BLOCK, &set, 0);
  if (argc > 1) {
    signal(SIGUSR1, on_signal);
    kill(getpid(), SIGUSR1);
  }
  if (argc > 2) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      getuid();
      execl("/bin/true", "true", (char*)0);
    }
    waitpid(child, 0, 0);
  }
  if (argc > 3) {
    abort();
  }
  exit(7);
}
