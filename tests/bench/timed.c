/* timed FILE PROGRAM ARGUMENTS…: runs a program and writes how long it took, in nanoseconds, without the start of the
 * tracer around it. */
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int count, char** arguments) {
  if (count < 3) {
    return 2;
  }
  const long long start = now();
  const pid_t child = fork();
  if (child == 0) {
    execvp(arguments[2], arguments + 2);
    _exit(127);
  }
  int status = 1;
  waitpid(child, &status, 0);
  const long long taken = now() - start;
  FILE* file = fopen(arguments[1], "w");
  if (file == NULL) {
    return 2;
  }
  fprintf(file, "%lld\n", taken);
  fclose(file);
  return status != 0;
}
