// What the options are shown on: each word of the command line makes a few calls that always look the same.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <net/if_arp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void ignore(int signal) {
  (void)signal;
}

/// To nobody: the kernel refuses the address.
static void ask_netfilter(void) {
  struct {
    struct nlmsghdr header;
    struct nfgenmsg message;
    struct nlattr attribute;
    char table[8];
  } asked = {{sizeof asked, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETTABLE, NLM_F_REQUEST, 0, 0},
             {AF_INET, NFNETLINK_V0, 0},
             {sizeof(struct nlattr) + 8, NFTA_TABLE_NAME},
             "filter"};
  const struct sockaddr_nl nobody = {.nl_family = AF_NETLINK, .nl_pid = 0x7ffffff0};
  const int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER);
  bind(fd, (const struct sockaddr*)&(struct sockaddr_nl){.nl_family = AF_NETLINK}, sizeof nobody);
  sendto(fd, &asked, sizeof asked, 0, (const struct sockaddr*)&nobody, sizeof nobody);
  close(fd);
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

/// Whether the kernel reports what waits in a ring: it is 6.0 or later, and nobody forbids it.
static int tells_entries(int ring) {
  char path[64];
  char text[512];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", ring);
  const int info = open(path, O_RDONLY);
  const ssize_t size = read(info, text, sizeof text - 1);
  close(info);
  text[size > 0 ? size : 0] = 0;
  return strstr(text, "SQEs:") != NULL;
}

/// Submits two entries to a ring, those in the slots 3 and 1, or without an array of slots the first two.
static void submit(unsigned flags, const char* otherwise) {
  struct io_uring_params params = {.flags = flags};
  const int ring = (int)syscall(SYS_io_uring_setup, 8, &params);
  const int ordered = flags != 0;
  if (ring < 0 || !tells_entries(ring)) {
    chdir(otherwise);
    return;
  }
  char* queue = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
  struct io_uring_sqe* entries = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
  entries[ordered ? 0 : 3].user_data = 77;
  entries[1] = (struct io_uring_sqe){.opcode = IORING_OP_WRITE, .fd = -1, .addr = (uintptr_t) "text", .len = 4};
  if (!ordered) {
    uint32_t* slots = (uint32_t*)(queue + params.sq_off.array);
    slots[0] = 3;
    slots[1] = 1;
  }
  *(uint32_t*)(queue + params.sq_off.tail) = 2;
  syscall(SYS_io_uring_enter, ring, 2, 0, 0, NULL, 8);
}

static void use_rings(void) {
  const unsigned no_array = 1U << 16;  // IORING_SETUP_NO_SQARRAY, Linux 6.6
  submit(0, "/no/rings");
  submit(no_array, "/no/order");
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
  } else if (strcmp(word, "arp") == 0) {
    ioctl(-1, SIOCGARP, &(struct arpreq){.arp_dev = "lo"});
  } else if (strcmp(word, "nft") == 0) {
    ask_netfilter();
  } else if (strcmp(word, "exec") == 0) {
    execl(self, "sample", "ppid", NULL);
  } else if (strcmp(word, "rings") == 0) {
    use_rings();
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
