// poll, select, epoll, eventfd, inotify: waiting for descriptors.
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
  int pipes[2];
  pipe(pipes);
  struct pollfd polled[3] = {{pipes[0], POLLIN | POLLPRI, 0}, {pipes[1], POLLOUT, 0}, {-1, POLLIN, 0}};
  poll(polled, 3, 100);
  poll(polled, 1, 0);
  poll((void*)1, 2, 0);
  poll(NULL, 0, 1);
  polled[0].fd = 99;
  polled[0].events = 0x7fff;
  poll(polled, 1, 5);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  ppoll(polled, 2, &(struct timespec){1, 5}, &set);

  fd_set readable, writable;
  FD_ZERO(&readable);
  FD_SET(pipes[0], &readable);
  FD_ZERO(&writable);
  FD_SET(pipes[1], &writable);
  FD_SET(1, &writable);
  select(pipes[1] + 1, &readable, &writable, NULL, &(struct timeval){1, 2});
  FD_SET(pipes[0], &readable);
  select(pipes[0] + 1, &readable, NULL, NULL, &(struct timeval){0, 1});
  select(-1, NULL, NULL, NULL, NULL);
  FD_SET(50, &readable);
  pselect(51, &readable, NULL, NULL, &(struct timespec){0, 9}, &set);
  write(pipes[1], "x", 1);
  FD_ZERO(&readable);
  FD_SET(pipes[0], &readable);
  pselect(pipes[0] + 1, &readable, NULL, &writable, NULL, NULL);

  const int queue = epoll_create1(EPOLL_CLOEXEC);
  epoll_create(5);
  epoll_create(0);
  struct epoll_event event = {.events = EPOLLIN | EPOLLET | EPOLLRDHUP | EPOLLONESHOT,
                              .data.u64 = 0x123456789abcdefULL};
  epoll_ctl(queue, EPOLL_CTL_ADD, pipes[0], &event);
  epoll_ctl(queue, EPOLL_CTL_ADD, 99, &event);
  epoll_ctl(queue, 77, pipes[0], NULL);
  struct epoll_event events[4];
  epoll_wait(queue, events, 4, 10);
  epoll_pwait(queue, events, 4, 0, &set);
  event.events = EPOLLOUT;
  epoll_ctl(queue, EPOLL_CTL_MOD, pipes[0], &event);
  epoll_wait(queue, events, 4, 0);
  epoll_ctl(queue, EPOLL_CTL_DEL, pipes[0], NULL);
  epoll_wait(99, (void*)1, 4, 0);
  syscall(SYS_epoll_pwait2, queue, events, 4, (long long[]){0, 3}, NULL, 8);

  const int counter = eventfd(7, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
  write(counter, "\1\0\0\0\0\0\0\0", 8);
  char value[8];
  read(counter, value, 8);
  const int watch = inotify_init1(IN_NONBLOCK);
  inotify_add_watch(watch, ".", IN_CREATE | IN_DELETE | IN_ONLYDIR);
  inotify_add_watch(watch, "missing", IN_ALL_EVENTS);
  inotify_rm_watch(watch, 99);
}
