// futex, prctl, terminals, keys, modules of System V and POSIX ipc, and other control calls.
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <termios.h>
#include <unistd.h>

static void futexes(void) {
  int word = 1;
  struct timespec soon = {0, 1000};
  syscall(SYS_futex, &word, FUTEX_WAIT, 1, &soon);
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL);
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1);
  syscall(SYS_futex, &word, FUTEX_WAKE, 0x7fffffff);
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 1, &soon, NULL, 0xffffffff);
  syscall(SYS_futex, &word, FUTEX_REQUEUE, 1, 2, &word, 0);
  syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE_PRIVATE, 1, 2, &word, 5);
  syscall(SYS_futex, &word, FUTEX_WAKE_OP, 1, 1, &word, FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_GT, 4));
  syscall(SYS_futex, &word, FUTEX_LOCK_PI, 0, &soon);
  syscall(SYS_futex, (void*)1, 99, 1, 2, 3, 4);
  syscall(SYS_set_robust_list, 0, 0);
  syscall(SYS_get_robust_list, 0, &word, (void*)1);
  syscall(SYS_set_tid_address, &word);
}

static void processes_own(void) {
  char name[16];
  prctl(PR_SET_NAME, "a \"name\"");
  prctl(PR_GET_NAME, name);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  prctl(PR_GET_PDEATHSIG, (int[]){0});
  prctl(PR_SET_DUMPABLE, 0);
  prctl(PR_SET_DUMPABLE, 1);
  prctl(PR_GET_DUMPABLE);
  prctl(PR_CAPBSET_READ, 21);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_TIMERSLACK, 1000);
  prctl(PR_GET_SECCOMP);
  prctl(PR_SET_MM, 99, 1, 2, 3);
  prctl(PR_GET_TSC, (int[]){0});
  prctl(PR_SET_VMA, 0, 0, 0, 0);
  prctl(12345, 1, 2, 3, 4);
  struct {
    unsigned version;
    int pid;
  } header = {0x20080522, 0};
  unsigned data[6];
  syscall(SYS_capget, &header, data);
  syscall(SYS_capget, NULL, NULL);
  syscall(SYS_seccomp, 2, 0, (unsigned[]){0x7fff0000});
  syscall(SYS_getcpu, (unsigned[]){0}, (unsigned[]){0}, NULL);
  struct sysinfo information;
  sysinfo(&information);
  syscall(SYS_kcmp, getpid(), getpid(), 0, 0, 1);
  syscall(SYS_membarrier, 0, 0, 0);
}

static void terminals(void) {
  const int master = open("/dev/ptmx", O_RDWR | O_NOCTTY);
  int number;
  ioctl(master, TIOCSPTLCK, (int[]){0});
  ioctl(master, TIOCGPTN, &number);
  struct termios settings;
  ioctl(master, TCGETS, &settings);
  settings.c_lflag &= ~(unsigned)(ICANON | ECHO);
  ioctl(master, TCSETS, &settings);
  ioctl(master, TIOCSWINSZ, &(struct winsize){24, 80, 0, 0});
  struct winsize size;
  ioctl(master, TIOCGWINSZ, &size);
  ioctl(master, TIOCGPGRP, &number);
  ioctl(master, FIONREAD, &number);
  ioctl(0, TCGETS, &settings);
  ioctl(1, TIOCGWINSZ, (void*)1);
  ioctl(master, _IOC(_IOC_READ | _IOC_WRITE, 'x', 77, 40), (void*)1);
  ioctl(master, 0xdeadbeef, 5);
  write(master, "typed\n", 6);
}

static void system_v(void) {
  const int memory = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
  void* at = shmat(memory, NULL, SHM_RDONLY);
  struct shmid_ds segment;
  shmctl(memory, IPC_STAT, &segment);
  shmctl(memory, IPC_RMID, NULL);
  shmdt(at);
  shmget(0x1234, 1, IPC_EXCL);
  const int semaphores = semget(IPC_PRIVATE, 2, IPC_CREAT | 0600);
  semop(semaphores, (struct sembuf[]){{0, 1, SEM_UNDO}, {1, 2, IPC_NOWAIT}}, 2);
  semctl(semaphores, 1, GETVAL);
  semctl(semaphores, 0, SETVAL, 3);
  semctl(semaphores, 0, IPC_RMID);
  const int queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
  struct {
    long type;
    char text[8];
  } message = {5, "message"};
  msgsnd(queue, &message, 7, IPC_NOWAIT);
  msgrcv(queue, &message, 8, 0, MSG_NOERROR);
  msgrcv(queue, &message, 8, -7, IPC_NOWAIT);
  msgctl(queue, IPC_RMID, NULL);
}

static void machine(void) {
  mount("none", "/missing", "tmpfs", MS_NOSUID | MS_NODEV | MS_RDONLY, "mode=755");
  mount(NULL, "/missing", NULL, MS_REMOUNT | MS_BIND, (void*)1);
  umount2("/missing", MNT_DETACH | UMOUNT_NOFOLLOW);
  syscall(SYS_pivot_root, "/missing", "/missing/old");
  chroot("/missing");
  setns(99, CLONE_NEWNET);
  unshare(CLONE_FS | CLONE_FILES);
  sethostname("h", -1);
  syscall(SYS_reboot, 1, 2, 3, NULL);
  syscall(SYS_add_key, "user", "name", "payload", 7, -99);
  syscall(SYS_keyctl, 99, 1, 2, 3, 4);
  syscall(SYS_bpf, 99, NULL, 0);
  syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0);
  syscall(SYS_io_uring_setup, 0, NULL);
  syscall(SYS_io_setup, 1, (void*)1);
  syscall(SYS_quotactl, 0x800001, "/dev/missing", 0, NULL);
  syscall(SYS_init_module, NULL, 0, "x=1");
  syscall(SYS_delete_module, "missing", O_NONBLOCK);
  syscall(SYS_syslog, 99, NULL, 0);
  syscall(SYS_swapon, "/missing", 0x8001);
  syscall(SYS_name_to_handle_at, AT_FDCWD, "hello.c", NULL, (int[]){0}, 0);
  syscall(SYS_fanotify_init, 99, O_RDONLY);
  syscall(SYS_userfaultfd, 0x7fffffff);
  syscall(SYS_mq_open, "queue", O_RDWR | O_CREAT, 0600, NULL);
  syscall(SYS_ptrace, 0, 0, 0, 0);
  syscall(SYS_ptrace, 16, 12345678, NULL, NULL);
  syscall(SYS_process_vm_readv, 12345678, NULL, 0, NULL, 0, 0);
  syscall(SYS_openat2, AT_FDCWD, "hello.c", (unsigned long long[]){O_RDONLY, 0, 8}, 24);
  syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
  syscall(SYS_fsopen, "missing", 1);
  syscall(SYS_open_tree, AT_FDCWD, "missing", 1);
}

int main(void) {
  futexes();
  processes_own();
  terminals();
  system_v();
  machine();
}
