// Calls that succeed where the kernel has them: asynchronous I/O, message queues, landlock, futexes, memory, handles,
// pipes, clocks, watches, mounts.
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/landlock.h>
#include <linux/loop.h>
#include <linux/userfaultfd.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static void asynchronous(void) {
  aio_context_t context = 0;
  syscall(SYS_io_setup, 4, &context);
  const int file = open("data/text", O_RDONLY);
  static char bytes[16];
  const int event = eventfd(0, 0);
  struct iocb one;
  memset(&one, 0, sizeof one);
  one.aio_data = 5;
  one.aio_lio_opcode = IOCB_CMD_PREAD;
  one.aio_fildes = (unsigned)file;
  one.aio_buf = (unsigned long)bytes;
  one.aio_nbytes = sizeof bytes;
  one.aio_flags = IOCB_FLAG_RESFD;
  one.aio_resfd = (unsigned)event;
  struct iocb* list[1] = {&one};
  syscall(SYS_io_submit, context, 1, list);
  struct io_event events[2];
  struct timespec none = {0, 0};
  syscall(SYS_io_getevents, context, 1, 2, events, &none);
  syscall(SYS_io_cancel, context, &one, events);
  syscall(SYS_io_destroy, context);
  close(event);
  close(file);
}

static void queues(void) {
  struct mq_attr attributes = {0, 4, 64, 0, {0}};
  const int queue = (int)syscall(SYS_mq_open, "probe", O_RDWR | O_CREAT | O_NONBLOCK, 0600, &attributes);
  struct timespec soon = {1, 0};
  syscall(SYS_mq_timedsend, queue, "message", 7, 3, NULL);
  syscall(SYS_mq_getsetattr, queue, NULL, &attributes);
  char text[64];
  unsigned priority = 0;
  syscall(SYS_mq_timedreceive, queue, text, sizeof text, &priority, NULL);
  syscall(SYS_mq_timedreceive, queue, text, sizeof text, &priority, &soon);
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  event.sigev_value.sival_int = 7;
  syscall(SYS_mq_notify, queue, &event);
  syscall(SYS_mq_notify, queue, NULL);
  syscall(SYS_mq_unlink, "probe");
  close(queue);
}

static void restrictions(void) {
  syscall(444, NULL, 0, 1);  // landlock_create_ruleset
  struct landlock_ruleset_attr rules = {LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE};
  const int set = (int)syscall(444, &rules, 8, 0);
  struct landlock_path_beneath_attr beneath = {LANDLOCK_ACCESS_FS_READ_FILE, open("data", O_PATH | O_CLOEXEC)};
  syscall(445, set, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  syscall(446, set, 0);
  open("data/text", O_RDONLY);
  open("hello.c", O_RDONLY);
}

static void futexes(void) {
  unsigned words[2] = {1, 2};
  struct {
    unsigned long long value, address;
    unsigned flags, reserved;
  } waited[2] = {{1, (unsigned long)&words[0], 2, 0}, {3, (unsigned long)&words[1], 2 | FUTEX_PRIVATE_FLAG, 0}};
  struct timespec none = {0, 0};
  syscall(449, waited, 2, 0, &none, CLOCK_MONOTONIC);
}

static void memory(void) {
  char* page = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  page[0] = 'a';
  unsigned char resident[4];
  mincore(page, 16384, resident);
  void* pages[2] = {page, page + 4096};
  int status[2] = {0, 0};
  syscall(SYS_move_pages, 0, 2, pages, NULL, status, 0);
  unsigned long nodes = 1;
  syscall(SYS_mbind, page, 4096, 0, NULL, 0, 0);
  syscall(SYS_set_mempolicy, 1, &nodes, 2);
  int mode;
  syscall(SYS_get_mempolicy, &mode, &nodes, 64, page, 2);
  syscall(SYS_set_mempolicy, 0, NULL, 0);
  const int key = (int)syscall(SYS_pkey_alloc, 0, 1);
  syscall(SYS_pkey_mprotect, page, 4096, PROT_READ, key);
  syscall(SYS_pkey_free, key);
  struct iovec local = {page, 4}, remote = {page + 8192, 4};
  syscall(SYS_process_vm_readv, getpid(), &local, 1, &remote, 1, 0);
  syscall(SYS_process_vm_writev, getpid(), &local, 1, &remote, 1, 0);
  const int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
  syscall(440, self, &remote, 1, MADV_COLD, 0);
  close(self);
  msync(page, 4096, MS_SYNC | MS_INVALIDATE);
  syscall(SYS_mlock2, page, 4096, 1);
  munlock(page, 4096);
  const int file = memfd_create("sealed", MFD_ALLOW_SEALING | MFD_CLOEXEC);
  ftruncate(file, 8192);
  fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  fcntl(file, F_GET_SEALS);
  fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096);
  syscall(SYS_sync_file_range, file, 0, 0, 4096, 0, 7);
  posix_fadvise(file, 0, 4096, POSIX_FADV_WILLNEED);
  readahead(file, 0, 4096);
  close(file);
  const int fault = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
  struct uffdio_api api = {UFFD_API, 0, 0};
  ioctl(fault, UFFDIO_API, &api);
  struct uffdio_register range = {{(unsigned long)page + 4096, 4096}, UFFDIO_REGISTER_MODE_MISSING, 0};
  ioctl(fault, UFFDIO_REGISTER, &range);
  struct uffdio_zeropage zero = {{(unsigned long)page + 4096, 4096}, 0, 0};
  ioctl(fault, UFFDIO_ZEROPAGE, &zero);
  ioctl(fault, UFFDIO_UNREGISTER, &range.range);
  close(fault);
}

static void handles(void) {
  struct {
    struct file_handle head;
    unsigned char bytes[128];
  } handle;
  int mount_id;
  handle.head.handle_bytes = 0;
  syscall(SYS_name_to_handle_at, AT_FDCWD, "data/text", &handle, &mount_id, 0);
  setxattr("data/text", "trusted.probe", "value", 5, XATTR_CREATE);
  char value[64];
  getxattr("data/text", "trusted.probe", value, sizeof value);
  listxattr("data/text", value, sizeof value);
  removexattr("data/text", "trusted.probe");
  const int file = open("data/text", O_RDWR);
  fsetxattr(file, "trusted.probe", "\0\1", 2, 0);
  fgetxattr(file, "trusted.probe", NULL, 0);
  fremovexattr(file, "trusted.probe");
  syscall(437, AT_FDCWD, "data/text", (unsigned long long[]){O_RDONLY | O_CLOEXEC, 0, 8}, 24);
  syscall(439, AT_FDCWD, "data/text", R_OK, AT_EACCESS);
  struct iovec data = {value, 4};
  preadv2(file, &data, 1, 0, RWF_HIPRI);
  pwritev2(file, &data, 1, 0, RWF_DSYNC);
  struct statx status;
  syscall(SYS_statx, AT_FDCWD, "data", AT_SYMLINK_NOFOLLOW, 0xfff, &status);
  close(file);
}

static void pipes(void) {
  int first[2], second[2];
  pipe2(first, O_NONBLOCK);
  pipe(second);
  struct iovec text = {"spliced", 7};
  vmsplice(first[1], &text, 1, 0);
  tee(first[0], second[1], 7, 0);
  const int file = open("data/text", O_RDONLY);
  long long offset = 4;
  splice(file, (off64_t*)&offset, first[1], NULL, 5, SPLICE_F_MOVE);
  fcntl(first[0], F_GETPIPE_SZ);
  fcntl(first[0], F_SETPIPE_SZ, 8192);
  int waiting;
  ioctl(first[0], FIONREAD, &waiting);
}

static void clocks(void) {
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGUSR1;
  event._sigev_un._tid = getpid();
  int id = -1;
  syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &id);
  const struct itimerspec later = {{1, 0}, {1000, 5}};
  struct itimerspec before;
  syscall(SYS_timer_settime, id, 0, &later, &before);
  syscall(SYS_timer_getoverrun, id);
  syscall(SYS_timer_delete, id);
  const int descriptor = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  timerfd_settime(descriptor, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &later, &before);
  close(descriptor);
  struct {
    unsigned size, policy;
    unsigned long long flags;
    int nice;
    unsigned priority;
    unsigned long long times[3];
  } attributes = {48, SCHED_OTHER, 1, 1, 0, {0, 0, 0}};
  syscall(SYS_sched_setattr, 0, &attributes, 0);
  syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0);
  syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 4);
  syscall(SYS_ioprio_get, 1, 0);
  struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct capabilities[2];
  syscall(SYS_capget, &head, capabilities);
  syscall(SYS_capset, &head, capabilities);
}

static void watched(void) {
  const int notices = inotify_init1(IN_NONBLOCK);
  const int watch = inotify_add_watch(notices, "data", IN_OPEN | IN_CREATE | IN_ONLYDIR);
  close(open("data/text", O_RDONLY));
  char bytes[256];
  read(notices, bytes, sizeof bytes);
  inotify_rm_watch(notices, watch);
  close(notices);
  const int group =
      fanotify_init(FAN_CLASS_NOTIF | FAN_NONBLOCK | FAN_REPORT_FID | FAN_REPORT_DIR_FID | FAN_REPORT_NAME, 0);
  fanotify_mark(group, FAN_MARK_ADD | FAN_MARK_ONLYDIR, FAN_CREATE | FAN_DELETE | FAN_ONDIR | FAN_EVENT_ON_CHILD,
                AT_FDCWD, "data");
  close(group);
}

static void mounted(void) {
  mkdir("point", 0755);
  mkdir("other", 0755);
  mount("none", "point", "tmpfs", 0, "size=64k,mode=700");
  struct {
    unsigned long long set, clear, propagation, namespace;
  } attributes = {1, 0, 1 << 18, 0};
  syscall(442, AT_FDCWD, "point", 0x8000, &attributes, sizeof attributes);
  const int tree = (int)syscall(428, AT_FDCWD, "point", 1 | O_CLOEXEC);
  syscall(429, tree, "", AT_FDCWD, "other", 4);
  const int picked = (int)syscall(433, AT_FDCWD, "point", 1);
  syscall(431, picked, 0, "ro", NULL, 0);
  syscall(431, picked, 7, NULL, NULL, 0);
  close(picked);
  close(tree);
  umount2("other", MNT_DETACH);
  umount2("point", 0);
  const int image = open("image", O_RDWR | O_CREAT, 0600);
  ftruncate(image, 65536);
  const int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
  ioctl(control, LOOP_CTL_GET_FREE);
  close(control);
}

int main(void) {
  asynchronous();
  queues();
  futexes();
  memory();
  handles();
  pipes();
  clocks();
  watched();
  mounted();
  restrictions();
  return 0;
}
