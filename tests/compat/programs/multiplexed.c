// What socketcall and ipc call, known and unknown, and what they call beside it.
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
#ifdef __i386__
  static unsigned long failing[6] = {-1};
  for (long call = 0; call <= 21; ++call) {
    syscall(SYS_socketcall, call, failing);
  }
  syscall(SYS_socketcall, 4, 8);
  for (long call = 0; call <= 25; ++call) {
    syscall(SYS_ipc, call, -1, 0, 0, 0, 0);
  }
  syscall(SYS_ipc, 1 | 1 << 16, -1, 0, 0, 0, 0);
#endif
  syscall(SYS_listen, -1, 5);
  return 0;
}
