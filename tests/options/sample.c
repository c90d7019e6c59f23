// What the options are shown on: each word of the command line makes a few calls that always look the same.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void ignore(int signal) {
  (void)signal;
}

static void fork_one(void) {
  const pid_t child = fork();
  if (child == 0) {
    chdir("/child");
    _exit(3);
  }
  waitpid(child, NULL, 0);
}

static void use_file(void) {
  char text[8];
  const int fd = open("text", O_RDONLY);
  read(fd, text, 4);
  dup2(fd, 30);
  close(30);
  close(fd);
}

static void use_descriptors(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  close(eventfd(5, 0));
  close(signalfd(-1, &set, 0));
  close((int)syscall(SYS_pidfd_open, getpid(), 0));
  close(open("/dev/null", O_RDONLY));
  close(socket(AF_UNIX, SOCK_STREAM, 0));
}

static void do_one(const char* word, char* self) {
  if (strcmp(word, "file") == 0) {
    use_file();
  } else if (strcmp(word, "fail") == 0) {
    chdir("/missing");
  } else if (strcmp(word, "cd") == 0) {
    chdir("/");
  } else if (strcmp(word, "ppid") == 0) {
    syscall(SYS_getppid);
  } else if (strcmp(word, "signal") == 0) {
    signal(SIGUSR1, ignore);
    kill(getpid(), SIGUSR1);
  } else if (strcmp(word, "fork") == 0) {
    fork_one();
  } else if (strcmp(word, "fds") == 0) {
    use_descriptors();
  } else if (strcmp(word, "write") == 0) {
    write(open("/dev/null", O_WRONLY), "a\tb\377c\n", 6);
  } else if (strcmp(word, "wait") == 0) {
    usleep(20000);
  } else if (strcmp(word, "unshare") == 0) {
    unshare(CLONE_NEWUTS);
  } else if (strcmp(word, "exec") == 0) {
    execl(self, "sample", "ppid", NULL);
  } else if (strcmp(word, "environment") == 0) {
    extern char** environ;
    for (char** one = environ; *one != NULL; ++one) {
      write(1, *one, strlen(*one));
      write(1, "\n", 1);
    }
  } else if (strcmp(word, "argv0") == 0) {
    write(1, self, strlen(self));
  }
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    do_one(argv[i], argv[0]);
  }
  return 0;
}
