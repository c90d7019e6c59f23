// Calls that touch data/text by name or by descriptor, for -P, and the same calls that do not.
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char path[] = "data/text";
static const char nowhere[] = "/nowhere/x";

static void wait_for(int fd, int other) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(fd, &set);
  struct timeval now = {0, 0};
  struct timespec instant = {0, 0};
  select(fd + 1, &set, NULL, NULL, &now);
  FD_SET(fd, &set);
  select(fd, NULL, &set, NULL, &now);
  FD_SET(fd, &set);
  pselect(fd + 1, NULL, &set, NULL, &instant, NULL);
  select(other + 1, NULL, NULL, &set, &now);
  struct pollfd polled[40];
  for (int i = 0; i < 40; ++i) {
    polled[i] = (struct pollfd){.fd = other, .events = POLLIN};
  }
  poll(polled, 40, 0);
  polled[39].fd = fd;
  poll(polled, 40, 0);
  poll(polled, 39, 0);
  ppoll(polled + 38, 2, &instant, NULL);
  polled[39].fd = ~fd;
  poll(polled + 38, 2, 0);
}

static void copy(int fd, int other, const int* pipes) {
  splice(fd, NULL, pipes[1], NULL, 1, 0);
  splice(pipes[0], NULL, fd, NULL, 0, 0);
  tee(fd, pipes[1], 1, 0);
  sendfile(fd, other, NULL, 1);
  sendfile(other, fd, NULL, 1);
  copy_file_range(fd, NULL, other, NULL, 1, 0);
  copy_file_range(other, NULL, fd, NULL, 1, 0);
  dup2(fd, 61);
  dup2(other, 61);
  dup3(other, 62, 0);
  munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0), 4096);
}

int main(void) {
  const int fd = open(path, O_RDONLY);
  const int other = open("/dev/null", O_RDWR);
  int pipes[2];
  pipe(pipes);
  wait_for(fd, other);
  copy(fd, other, pipes);
  struct epoll_event event = {.events = EPOLLIN};
  const int epoll = epoll_create1(0);
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  epoll_ctl(epoll, EPOLL_CTL_ADD, pipes[0], &event);

  link(nowhere, path);
  rename(path, nowhere);
  symlink(path, nowhere);
  symlink("x", path);
  linkat(AT_FDCWD, path, AT_FDCWD, nowhere, 0);
  renameat(other, "x", fd, "y");
  symlinkat(path, other, nowhere);
  symlinkat("x", fd, "x");
  openat(fd, "x", 0);
  truncate(path, -1);
  chdir(path);
  syscall(SYS_mount, path, nowhere, "x", 0, 0);
  syscall(SYS_mount, "none", path, "x", 0, 0);
  syscall(SYS_pivot_root, nowhere, path);
  syscall(SYS_fsconfig, other, 3, "key", path, AT_FDCWD);
  syscall(SYS_fsconfig, other, 3, "key", nowhere, AT_FDCWD);
  syscall(SYS_fsconfig, other, 5, "key", NULL, fd);
  struct stat info;
  stat(path, &info);
  stat("data/../data/text", &info);
  execl(path, "x", NULL);
  return close(fd);
}
