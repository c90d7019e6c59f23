// Hands the kernel memory that nobody serves: who reads it waits for ever. Without an argument, a path under
// userfaultfd(2); with the name of a file, a mapping of that.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The kernel itself does not read what is written to this device.
static int write_mapped(const char* name) {
  const int sink = open("/dev/null", O_WRONLY);
  const char* memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, open(name, O_RDONLY), 0);
  return memory == MAP_FAILED || write(sink, memory, 16) != 16;
}

int main(int count, char** words) {
  if (count > 1) {
    return write_mapped(words[1]);
  }
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
