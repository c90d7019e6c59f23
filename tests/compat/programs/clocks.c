// Clocks, timers and sleeps.
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

int main(void) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &now);
  syscall(SYS_clock_gettime, 77, &now);
  syscall(SYS_clock_gettime, CLOCK_BOOTTIME, (void*)1);
  syscall(SYS_clock_getres, CLOCK_REALTIME, &now);
  syscall(SYS_clock_settime, CLOCK_MONOTONIC, &(struct timespec){1, 2});
  struct timeval time;
  syscall(SYS_gettimeofday, &time, NULL);
  syscall(SYS_settimeofday, (void*)1, NULL);
  nanosleep(&(struct timespec){0, 1}, NULL);
  nanosleep(&(struct timespec){0, -1}, &now);
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &(struct timespec){1, 0}, NULL);
  clock_nanosleep(CLOCK_REALTIME, 0, &(struct timespec){0, 1000}, &now);
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  event.sigev_value.sival_int = 5;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  struct itimerspec setting = {{1, 2}, {1000, 0}};
  timer_settime(timer, 0, &setting, NULL);
  timer_gettime((timer_t)77, &setting);
  timer_getoverrun(timer);
  timer_delete(timer);
  const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  struct itimerspec former;
  timerfd_settime(fd, TFD_TIMER_ABSTIME, &(struct itimerspec){{0, 0}, {1 << 30, 7}}, &former);
  timerfd_settime(fd, 0, &(struct itimerspec){{0, 0}, {0, 0}}, NULL);
  timerfd_gettime(fd, &former);
  setitimer(ITIMER_VIRTUAL, &(struct itimerval){{0, 1}, {10, 0}}, NULL);
  setitimer(99, NULL, NULL);
  getitimer(ITIMER_PROF, (void*)1);
}
