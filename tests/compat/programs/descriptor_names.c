// Descriptors of every kind and process ids, in every place where one shows. MANY
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/kcmp.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int gone, events, stream, pipes[2], packets[2];

static int use(int fd) {
  fcntl(fd, F_GETFD);
  close(fcntl(fd, F_DUPFD, 90));
  return fd;
}

static void files(void) {
  use(open("data/text", O_RDONLY));
  gone = open("gone", O_RDWR | O_CREAT, 0600);
  unlink("gone");
  use(gone);
  const int linked = open("linked", O_RDWR | O_CREAT, 0600);
  link("linked", "other name");
  unlink("linked");
  use(linked);
  use(open("name (deleted)", O_RDWR | O_CREAT, 0600));
  use(open("/dev/null", O_RDONLY));
  mknod("device", S_IFCHR | 0600, makedev(1, 3));
  const int device = open("device", O_RDONLY);
  unlink("device");
  use(device);
  use(open(".", O_RDONLY | O_DIRECTORY));
  use(open("data", O_PATH));
  use(open("/proc/self/ns/net", O_RDONLY));
  pipe(pipes);
  use(pipes[0]);
  use(pipes[1]);
}

static void anonymous(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  use(eventfd(7, EFD_SEMAPHORE));
  use(signalfd(-1, &set, 0));
  use(timerfd_create(CLOCK_MONOTONIC, 0));
  events = use(epoll_create1(0));
  use(inotify_init1(0));
  use(fanotify_init(0, O_RDONLY));
  use((int)syscall(SYS_pidfd_open, getpid(), 0));
  use((int)syscall(SYS_userfaultfd, 0));
  use(memfd_create("mem file", MFD_CLOEXEC));
  use((int)syscall(447, 0));  // memfd_secret
  struct io_uring_params params;
  memset(&params, 0, sizeof params);
  use((int)syscall(SYS_io_uring_setup, 4, &params));
  struct perf_event_attr counter;
  memset(&counter, 0, sizeof counter);
  counter.type = PERF_TYPE_SOFTWARE;
  counter.size = sizeof counter;
  counter.config = PERF_COUNT_SW_PAGE_FAULTS;
  counter.exclude_kernel = 1;
  use((int)syscall(SYS_perf_event_open, &counter, 0, -1, -1, 0));
  union bpf_attr map;
  memset(&map, 0, sizeof map);
  map.map_type = BPF_MAP_TYPE_ARRAY;
  map.key_size = map.value_size = 4;
  map.max_entries = 1;
  use((int)syscall(SYS_bpf, BPF_MAP_CREATE, &map, 72));
}

static void terminals(void) {
  use(open("/dev/ptmx", O_RDWR | O_NOCTTY));
  use(open("/dev/pts/ptmx", O_RDWR | O_NOCTTY));
}

static void local_sockets(void) {
  socketpair(AF_UNIX, SOCK_SEQPACKET, 0, packets);
  use(packets[0]);
  const struct sockaddr_un abstract = {AF_UNIX, "\0abstract\0name"};
  const int server = socket(AF_UNIX, SOCK_STREAM, 0);
  bind(server, (const struct sockaddr*)&abstract, sizeof abstract);  // NULs and all
  listen(server, 1);
  use(server);
  const int client = use(socket(AF_UNIX, SOCK_STREAM, 0));
  connect(client, (const struct sockaddr*)&abstract, sizeof abstract);
  use(client);
  use(accept(server, NULL, NULL));
  struct ucred peer;
  socklen_t length = sizeof peer;
  getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &length);
  const struct sockaddr_un quoted = {AF_UNIX, "path\"socket"};
  const int datagrams = socket(AF_UNIX, SOCK_DGRAM, 0);
  bind(datagrams, (const struct sockaddr*)&quoted, sizeof quoted);
  use(datagrams);
}

static void internet_sockets(void) {
  const struct sockaddr_in here = {AF_INET, htons(7777), {htonl(INADDR_LOOPBACK)}};
  const int server = use(socket(AF_INET, SOCK_STREAM, 0));
  bind(server, (const struct sockaddr*)&here, sizeof here);
  use(server);
  listen(server, 2);
  use(server);
  stream = socket(AF_INET, SOCK_STREAM, 0);
  connect(stream, (const struct sockaddr*)&here, sizeof here);
  accept4(server, NULL, NULL, 0);
  const int left = socket(AF_INET, SOCK_STREAM, 0);
  connect(left, (const struct sockaddr*)&here, sizeof here);
  const int served = accept4(server, NULL, NULL, 0);
  shutdown(left, SHUT_RDWR);
  shutdown(served, SHUT_RDWR);
  use(left);  // the kernel has forgotten its addresses
  use(served);
  const int datagrams = socket(AF_INET, SOCK_DGRAM, 0);
  bind(datagrams, (const struct sockaddr*)&here, sizeof here);
  use(datagrams);
  const struct sockaddr_in6 here6 = {AF_INET6, htons(7778), 0, IN6ADDR_LOOPBACK_INIT};
  const int server6 = socket(AF_INET6, SOCK_STREAM, 0);
  bind(server6, (const struct sockaddr*)&here6, sizeof here6);
  listen(server6, 1);
  use(server6);
  const int datagrams6 = socket(AF_INET6, SOCK_DGRAM, 0);
  bind(datagrams6, (const struct sockaddr*)&here6, sizeof here6);
  use(datagrams6);
  use(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
  use(socket(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6));
}

static void other_sockets(void) {
  const struct sockaddr_nl number = {AF_NETLINK, 0, 4242, 0};
  const int route = use(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
  bind(route, (const struct sockaddr*)&number, sizeof number);
  use(route);
  use(socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC));
  use(socket(AF_PACKET, SOCK_RAW, htons(3)));
  use(socket(AF_ALG, SOCK_SEQPACKET, 0));
}

static void messages(void) {
  char byte[8] = "x";
  struct iovec data = {byte, 1};
  union {
    struct cmsghdr head;
    char bytes[64];
  } control;
  memset(&control, 0, sizeof control);
  struct msghdr message = {NULL, 0, &data, 1, &control, CMSG_SPACE(8), 0};
  control.head.cmsg_level = SOL_SOCKET;
  control.head.cmsg_type = SCM_RIGHTS;
  control.head.cmsg_len = CMSG_LEN(8);
  memcpy(CMSG_DATA(&control.head), (int[]){pipes[0], stream}, 8);
  sendmsg(packets[0], &message, 0);
  message.msg_controllen = sizeof control;
  recvmsg(packets[1], &message, 0);
  setsockopt(packets[0], SOL_SOCKET, SO_PASSCRED, (int[]){1}, sizeof(int));
  const struct ucred own = {getpid(), 0, 0};
  control.head.cmsg_type = SCM_CREDENTIALS;
  control.head.cmsg_len = CMSG_LEN(sizeof own);
  memcpy(CMSG_DATA(&control.head), &own, sizeof own);
  message.msg_controllen = CMSG_SPACE(sizeof own);
  sendmsg(packets[1], &message, 0);
  message.msg_controllen = sizeof control;
  recvmsg(packets[0], &message, 0);
}

static void waits(void) {
  struct epoll_event event = {EPOLLIN, {.fd = stream}};
  epoll_ctl(events, EPOLL_CTL_ADD, pipes[0], &event);
  write(pipes[1], "x", 1);
  epoll_wait(events, &event, 1, 0);
  struct pollfd polled[3] = {{pipes[0], POLLIN, 0}, {stream, POLLOUT, 0}, {-1, POLLIN, 0}};
  poll(polled, 3, 0);
  fd_set readable;
  FD_ZERO(&readable);
  FD_SET(pipes[0], &readable);
  FD_SET(stream, &readable);
  select(stream + 1, &readable, NULL, NULL, &(struct timeval){0, 0});
}

static void places(void) {
  char bytes[8];
  dup2(stream, 80);
  dup3(pipes[0], 81, O_CLOEXEC);
  const int folder = open("data", O_DIRECTORY | O_RDONLY);
  const int file = openat(folder, "text", O_RDONLY);
  openat(AT_FDCWD, "data/sub/bytes", O_RDONLY);
  rename("data", "renamed");
  openat(folder, "text", O_RDONLY);
  rename("renamed", "data");
  syscall(437, AT_FDCWD, "data/text", (unsigned long long[]){0, 0, 0}, 24);  // openat2
  mmap(NULL, 10, PROT_READ, MAP_PRIVATE, file, 0);
  sendfile(stream, file, NULL, 5);
  splice(pipes[0], NULL, stream, NULL, 1, SPLICE_F_NONBLOCK);
  copy_file_range(file, NULL, gone, NULL, 4, 0);
  flock(file, LOCK_EX);
  fcntl(file, F_SETLEASE, F_RDLCK);
  pread(file, bytes, 1, 0);
  fchown(file, 0, 0);
  linkat(AT_FDCWD, "data/text", folder, "hard", 0);
  renameat2(folder, "hard", AT_FDCWD, "hard", RENAME_NOREPLACE);
  unlinkat(AT_FDCWD, "hard", 0);
  struct flock lock = {F_WRLCK, SEEK_SET, 0, 1, 0};
  fcntl(gone, F_SETLK, &lock);
  fcntl(gone, F_GETLK, &lock);
}

static void processes(void) {
  siginfo_t info;
  struct f_owner_ex owner = {F_OWNER_PID, getpid()};
  fcntl(stream, F_SETOWN_EX, &owner);
  fcntl(stream, F_GETOWN_EX, &owner);
  fcntl(stream, F_SETOWN, getpid());
  fcntl(stream, F_GETOWN);
  const int child = fork();
  if (child == 0) {
    _exit(1);
  }
  waitid(P_PID, (unsigned)child, &info, WEXITED | WNOWAIT);
  waitid(P_PIDFD, (unsigned)syscall(SYS_pidfd_open, child, 0), &info, WEXITED | WNOWAIT);
  wait4(child, NULL, 0, NULL);
  const int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
  syscall(438, self, pipes[0], 0);  // pidfd_getfd
  syscall(438, self, 999, 0);
  syscall(SYS_pidfd_send_signal, self, 0, NULL, 0);
  syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, pipes[0], pipes[1]);
  setpgid(0, 0);
  getpgid(0);
  getsid(0);
  kill(getpid(), 0);
  syscall(SYS_tgkill, getpid(), getpid(), 0);
  prctl(PR_SET_PTRACER, getpid());
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
}

static void other_root(void) {
  mkdir("root", 0755);
  mkdir("root/inside", 0755);
  chroot("root");
  chdir("/inside");
  openat(AT_FDCWD, ".", O_RDONLY);
  open("/inside", O_RDONLY);
  use(open("/left", O_RDWR | O_CREAT, 0600));
  unlink("/left");
  use(open("/inside", O_RDONLY));
}

int main(void) {
  sigset_t ended;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);  // which may come before a wait returns or after it
  sigprocmask(SIG_BLOCK, &ended, NULL);
  files();
  anonymous();
  terminals();
  local_sockets();
  internet_sockets();
  other_sockets();
  messages();
  waits();
  places();
  processes();
  other_root();
  return 0;
}
