/* Fails in the way that its first argument names; the others say with what. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fuse.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char** arg;

static void fail(const char* what) {
  fprintf(stderr, "fatal: %s: %s\n", what, strerror(errno));
  exit(1);
}

/* Mounts a file system whose server, this program, answers nothing after the first request, and asks it for a file. */
static void wait_for_server(const char* folder, const char* call) {
  struct {
    struct fuse_in_header header;
    char rest[8192];
  } request;
  struct {
    struct fuse_out_header header;
    struct fuse_init_out init;
  } answer = {0};
  char options[100];
  char path[4096];
  int server = open("/dev/fuse", O_RDWR);
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%d,group_id=%d", server, getuid(), getgid());
  snprintf(path, sizeof path, "%s/file", folder);
  if (server < 0 || unshare(CLONE_NEWNS) < 0 || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
      mount("server", folder, "fuse", 0, options) < 0 || read(server, &request, sizeof request) < 0) {
    fail("no file system");
  }
  answer.header.len = sizeof answer;
  answer.header.unique = request.header.unique;
  answer.init.major = FUSE_KERNEL_VERSION;
  answer.init.minor = FUSE_KERNEL_MINOR_VERSION;
  answer.init.max_write = 4096;
  if (write(server, &answer, sizeof answer) < 0) {
    fail("no answer");
  }
  if (strcmp(call, "open") == 0) {
    open(path, O_RDONLY);
  } else if (strcmp(call, "access") == 0) {
    access(path, R_OK);
  }
}

static void quietly(const char* what) {
  fprintf(stderr, "fatal: %s\n", what);
  exit(1);
}

static struct sockaddr_in inet(const char* host, const char* port) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port))};
  inet_pton(AF_INET, host, &a.sin_addr);
  return a;
}

static struct sockaddr_un unix_address(const char* path) {
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  strncpy(a.sun_path, path, sizeof a.sun_path - 1);
  return a;
}

static void limit(int what, rlim_t value) {
  struct rlimit r = {value, value};
  setrlimit(what, &r);
}

/* A seccomp filter: `action` for one system call. */
static void forbid(int number, unsigned action) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {4, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) fail("seccomp");
}

static int recurse(volatile int depth) {
  volatile char frame[4096];
  frame[0] = (char)depth;
  return recurse(depth + 1) + frame[0];
}

static void* overflow(void* unused) {
  (void)unused;
  return (void*)(long)recurse(0);
}

static sem_t held;

static void* hold(void* lock) {
  pthread_mutex_lock(lock);
  sem_post(&held);
  for (;;) pause();
}

static int is(const char* name) {
  return strcmp(arg[1], name) == 0;
}

int main(int count, char** argv) {
  arg = argv;
  if (count < 2) return 2;
  if (is("open")) {
    if (open(arg[2], O_RDONLY) < 0) fail(arg[2]);
  } else if (is("open-quietly")) {
    if (open(arg[2], O_RDONLY) < 0) quietly("cannot read configuration");
  } else if (is("open-for-writing")) {
    if (open(arg[2], O_WRONLY | O_NONBLOCK) < 0) fail(arg[2]);
  } else if (is("write-file")) {
    int fd = open(arg[2], O_WRONLY | O_CREAT, 0644);
    char block[4096] = {0};
    if (fd < 0) fail(arg[2]);
    for (int i = 0; i < 100000; ++i)
      if (write(fd, block, sizeof block) < 0) fail("write");
  } else if (is("alternatives")) { /* the last one is there; then another failure */
    for (int i = 2; i + 1 < count; ++i) open(arg[i], O_RDONLY);
    if (open(arg[count - 1], O_RDONLY) < 0) fail(arg[count - 1]);
  } else if (is("getcwd")) {
    char name[4096];
    if (rmdir(arg[2]) != 0 || getcwd(name, sizeof name) == NULL) fail("getcwd");
  } else if (is("bind")) {
    struct sockaddr_in a = inet(arg[2], arg[3]);
    if (bind(socket(AF_INET, SOCK_STREAM, 0), (void*)&a, sizeof a) != 0) fail("bind");
  } else if (is("bind-unix") || is("connect-unix")) {
    struct sockaddr_un a = unix_address(arg[2]);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    if ((is("bind-unix") ? bind(s, (void*)&a, sizeof a) : connect(s, (void*)&a, sizeof a)) != 0) fail("socket");
  } else if (is("connect") || is("connect-later")) {
    struct sockaddr_in a = inet(arg[2], arg[3]);
    int s = socket(AF_INET, SOCK_STREAM | (is("connect") ? 0 : SOCK_NONBLOCK), 0);
    if (connect(s, (void*)&a, sizeof a) != 0 && errno != EINPROGRESS) fail("connect");
    struct pollfd p = {s, POLLOUT, 0};
    poll(&p, 1, 2000);
    socklen_t size = sizeof errno;
    int error = 0;
    getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &size);
    if ((errno = error) != 0) fail("connect");
  } else if (is("resolve")) {
    struct addrinfo* found;
    int e = getaddrinfo(arg[2], "80", NULL, &found);
    if (e != 0) {
      fprintf(stderr, "fatal: %s: %s\n", arg[2], gai_strerror(e));
      return 1;
    }
  } else if (is("lock")) {
    int fd = open(arg[2], O_RDWR | O_CREAT, 0644);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) quietly("another instance is running");
  } else if (is("pid-file")) {
    if (open(arg[2], O_WRONLY | O_CREAT | O_EXCL, 0644) < 0) fail(arg[2]);
  } else if (is("ask-pid")) { /* asks whether the process of a file lives */
    int fd = open(arg[2], O_RDONLY);
    char number[16] = {0};
    if (fd < 0 || read(fd, number, sizeof number - 1) <= 0) fail(arg[2]);
    if (kill(atoi(number), 0) == 0 || errno == EPERM) quietly("server is already running");
  } else if (is("files")) {
    limit(RLIMIT_NOFILE, 20);
    for (int i = 0; i < 30; ++i)
      if (open("/dev/null", O_RDONLY) < 0) fail("/dev/null");
  } else if (is("stop")) {
    raise(SIGSTOP);
    sleep(600);
  } else if (is("receive")) {
    char message[16];
    msgrcv(msgget(IPC_PRIVATE, 0600), message, 8, 0, 0);
  } else if (is("vfork")) {
    if (vfork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      pause();
    }
  } else if (is("watchers")) {
    for (;;)
      if (inotify_init1(0) < 0) fail("inotify_init");
  } else if (is("watch")) {
    forbid(SYS_inotify_add_watch, SECCOMP_RET_ERRNO | ENOSPC); /* the limit itself is the whole machine's */
    if (inotify_add_watch(inotify_init1(0), "/", IN_CREATE) < 0) fail("inotify_add_watch");
  } else if (is("processes")) {
    limit(RLIMIT_NPROC, 1);
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) _exit(0);
  } else if (is("memory")) {
    limit(RLIMIT_AS, 64 << 20);
    if (malloc(1 << 30) == NULL) fail("malloc");
  } else if (is("eat")) {
    for (;;) memset(malloc(1 << 20), 1, 1 << 20);
  } else if (is("mlock")) {
    limit(RLIMIT_MEMLOCK, 4096);
    if (mlock(malloc(1 << 20), 1 << 20) != 0) fail("mlock");
  } else if (is("cpu")) {
    limit(RLIMIT_CPU, 1);
    for (;;) {
    }
  } else if (is("file-size")) {
    limit(RLIMIT_FSIZE, 4096);
    signal(SIGXFSZ, SIG_IGN);
    int fd = open(arg[2], O_WRONLY | O_CREAT, 0644);
    char block[8192] = {0};
    for (int i = 0; i < 3; ++i)
      if (write(fd, block, sizeof block) < 0) fail("write");
  } else if (is("seccomp-kill")) {
    forbid(SYS_socket, SECCOMP_RET_KILL_PROCESS);
    socket(AF_INET, SOCK_STREAM, 0);
  } else if (is("seccomp-trap")) {
    forbid(SYS_socket, SECCOMP_RET_TRAP);
    socket(AF_INET, SOCK_STREAM, 0);
  } else if (is("seccomp-errno")) {
    forbid(SYS_socket, SECCOMP_RET_ERRNO | EPERM);
    if (socket(AF_INET, SOCK_STREAM, 0) < 0) fail("socket");
  } else if (is("without-sockets")) { /* another program under a filter */
    forbid(SYS_socket, SECCOMP_RET_ERRNO | EPERM);
    execvp(arg[2], arg + 2);
    fail(arg[2]);
  } else if (is("landlock")) {
    struct landlock_ruleset_attr rules = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE};
    int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (fd < 0 || syscall(SYS_landlock_restrict_self, fd, 0) != 0) return 77;
    if (open(arg[2], O_RDONLY) < 0) fail(arg[2]);
#if defined(LANDLOCK_ACCESS_NET_BIND_TCP)
#define RULES struct landlock_ruleset_attr
#define BIND_TCP LANDLOCK_ACCESS_NET_BIND_TCP
#else /* older headers */
#define RULES                                                 \
  struct {                                                    \
    unsigned long long handled_access_fs, handled_access_net; \
  }
#define BIND_TCP 1
#endif
  } else if (is("landlock-bind")) {
    RULES rules = {.handled_access_net = BIND_TCP};
    int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    struct sockaddr_in a = inet(arg[2], arg[3]);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (fd < 0 || syscall(SYS_landlock_restrict_self, fd, 0) != 0) return 77;
    if (bind(socket(AF_INET, SOCK_STREAM, 0), (void*)&a, sizeof a) != 0) fail("bind");
#if defined(__x86_64__)
  } else if (is("illegal")) {
    __asm__ volatile(".byte 0x0f, 0xff, 0xc0, 0x90");
#endif
  } else if (is("segv")) {
    *(volatile int*)8 = 1;
  } else if (is("stack")) {
    return recurse(0);
  } else if (is("thread-stack")) {
    pthread_t t;
    pthread_create(&t, NULL, overflow, NULL);
    pthread_join(t, NULL);
  } else if (is("abort")) {
    fprintf(stderr, "fail: engine.c:12: Assertion `fuel > 0' failed.\n");
    abort();
  } else if (is("kill-self")) {
    kill(getpid(), SIGKILL);
  } else if (is("killed-by-child")) {
    if (fork() == 0) {
      kill(getppid(), SIGKILL);
      _exit(0);
    }
    for (;;) pause();
  } else if (is("unshare")) {
    if (unshare(CLONE_NEWNS) != 0) fail("unshare");
  } else if (is("status")) {
    return atoi(arg[2]);
  } else if (is("setuid-needed")) {
    if (geteuid() != 0) quietly("must be run as root");
  } else if (is("sleep")) {
    sleep(1000);
  } else if (is("read-fifo")) {
    open(arg[2], O_RDONLY);
  } else if (is("wait-server")) {
    wait_for_server(arg[2], arg[3]);
  } else if (is("wait-lock")) {
    flock(open(arg[2], O_RDWR | O_CREAT, 0644), LOCK_EX);
  } else if (is("deadlock")) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t t;
    sem_init(&held, 0, 0);
    pthread_create(&t, NULL, hold, &lock);
    sem_wait(&held);
    pthread_mutex_lock(&lock);
  } else if (is("wait-child")) {
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL); /* tests kill the parent */
      for (;;) pause();
    }
    wait(NULL);
  } else if (is("wait-peer")) {
    struct sockaddr_in a = inet("127.0.0.1", arg[2]);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(s, (void*)&a, sizeof a) != 0) fail("connect");
    char c;
    return (int)read(s, &c, 1);
  } else if (is("wait-pipe")) {
    char c;
    return (int)read(0, &c, 1);
  } else if (is("orphan")) { /* ends well and leaves a child that fails */
    if (fork() == 0) {
      usleep(200000);
      if (open(arg[2], O_RDONLY) < 0) fail(arg[2]);
    }
  } else {
    return 2;
  }
  return 0;
}
