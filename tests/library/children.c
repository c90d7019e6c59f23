// Children by fork and by vfork, which call functions too.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  int status = 0;
  int sum = 0;
  pid_t child = fork();
  if (child == 0) {
    _exit(abs(-3));
  }
  waitpid(child, &status, 0);
  sum += WIFEXITED(status) ? WEXITSTATUS(status) : 100;
  child = vfork();
  if (child == 0) {
    volatile int nine = abs(-9);
    (void)nine;
    execl("/bin/sh", "sh", "-c", "exit 4", (char*)0);
    _exit(100);
  }
  waitpid(child, &status, 0);
  sum += WIFEXITED(status) ? WEXITSTATUS(status) : 100;
  return abs(-sum);
}
