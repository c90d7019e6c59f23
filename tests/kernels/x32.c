// What x32 programs do in a way of their own: 64-bit registers, 32-bit pointers and structures, calls with numbers of
// their own. Compared with x32.txt.
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static void caught(int signal) {
  (void)signal;
}

int main(void) {
  char bytes[8];
  pread(-1, bytes, sizeof bytes, 0x123456789aLL);
  posix_fadvise(-1, 0x123456789aLL, 7, POSIX_FADV_DONTNEED);
  struct iovec parts[2] = {{"one", 3}, {"three", 5}};
  writev(-1, parts, 2);
  const struct timespec pause = {0, 1000};
  nanosleep(&pause, NULL);
  struct stat status;
  stat("/dev/null", &status);
  mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct sigaction action = {.sa_handler = caught};
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  return 5;
}
