// Mappings, their protection and advice.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
  enum { page = 4096 };
  char* memory = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mmap(memory, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  mmap(NULL, 0, PROT_EXEC, MAP_SHARED, 99, 0);
  mmap(NULL, page, PROT_READ, MAP_SHARED_VALIDATE | MAP_POPULATE, open("data/text", O_RDONLY), page);
  mmap(NULL, page, PROT_READ | PROT_GROWSDOWN | 0x40000000, MAP_ANONYMOUS | MAP_STACK | MAP_GROWSDOWN | MAP_PRIVATE, -1,
       0);
  mmap(NULL, 1 << 21, PROT_READ, MAP_ANONYMOUS | MAP_PRIVATE | MAP_HUGETLB | (21 << MAP_HUGE_SHIFT), -1, 0);
  mprotect(memory, page, PROT_READ | PROT_EXEC);
  mprotect((void*)1, 3, -1);
  madvise(memory, page, MADV_DONTNEED);
  madvise(memory, page, MADV_HUGEPAGE);
  madvise(memory, page, 12345);
  mremap(memory + page, page, 2 * page, MREMAP_MAYMOVE);
  mremap(memory, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, memory + 3 * page);
  msync(memory + 2 * page, page, MS_SYNC | MS_INVALIDATE);
  unsigned char resident[4] = {0};
  mincore(memory + 2 * page, page, resident);
  mlock(memory + 2 * page, page);
  mlock2(memory + 2 * page, page, MLOCK_ONFAULT);
  munlock(memory + 2 * page, page);
  mlockall(0);
  munlockall();
  brk(NULL);
  sbrk(0);
  const int file = memfd_create("a memfd", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ftruncate(file, page);
  fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL);
  fcntl(file, F_GET_SEALS);
  syscall(SYS_remap_file_pages, memory, page, 0, 0, 0);
  syscall(SYS_mbind, memory, page, 1, (long[]){1}, 8, 0);
  syscall(SYS_get_mempolicy, (int[]){0}, NULL, 0, NULL, 0);
  const int key = pkey_alloc(0, PKEY_DISABLE_WRITE);
  pkey_mprotect(memory, page, PROT_READ, key);
  pkey_free(99);
  munmap(memory, page);
  munmap((void*)1, 1);
}
