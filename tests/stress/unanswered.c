// Hands the kernel a path in memory that nobody serves (userfaultfd(2)): who reads it waits for ever.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
  const long size = sysconf(_SC_PAGESIZE);
  char* memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int served = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
  struct uffdio_api api = {.api = UFFD_API};
  struct uffdio_register region = {.range = {(unsigned long)memory, (unsigned long)size},
                                   .mode = UFFDIO_REGISTER_MODE_MISSING};
  if (served < 0 || ioctl(served, UFFDIO_API, &api) != 0 || ioctl(served, UFFDIO_REGISTER, &region) != 0) {
    return 77;
  }
  puts("waits");
  fflush(stdout);
  return chdir(memory) != 0;
}
