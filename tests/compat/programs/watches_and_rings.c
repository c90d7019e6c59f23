// Files, watches, handles and rings in calls that succeed, and what such watches read.
#include <dirent.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

static void described(void) {
  struct statx more;
  for (unsigned bit = 0; bit < 14; bit++) {
    statx(AT_FDCWD, "data/text", AT_STATX_FORCE_SYNC, 1U << bit, &more);
  }
  statx(AT_FDCWD, "data/link", AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_BTIME, &more);
  statx(AT_FDCWD, "/dev/null", 0, 0x7ff, &more);
  statx(AT_FDCWD, "/proc/self/status", 0, 0x3fff, &more);
  char entries[256];
  const int directory = open("data", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  syscall(SYS_getdents64, directory, entries, 10);
  syscall(SYS_getdents64, directory, entries, 24);
  syscall(SYS_getdents64, directory, entries, 60);
  syscall(SYS_getdents64, directory, entries, sizeof entries);
  lseek(directory, 0, SEEK_SET);
#ifdef SYS_getdents
  syscall(SYS_getdents, directory, entries, 44);
  syscall(SYS_getdents, directory, entries, sizeof entries);
  syscall(SYS_getdents, directory, entries, sizeof entries);
#endif
  struct statfs system;
  fstatfs(directory, &system);
  statfs("/dev", &system);
  fcntl(directory, F_NOTIFY, DN_ACCESS | DN_CREATE | DN_MULTISHOT);
  close(directory);
}

static void controlled(void) {
  const int hidden = open("data", O_RDWR | O_TMPFILE, 0640);
  const int temporary = open("data", O_WRONLY | O_TMPFILE | O_EXCL | O_LARGEFILE, 0600);
  close(temporary);
  linkat(AT_FDCWD, "/proc/self/fd/3", AT_FDCWD, "shown", AT_SYMLINK_FOLLOW);
  linkat(hidden, "", AT_FDCWD, "shown too", AT_EMPTY_PATH);
  ftruncate(hidden, 100);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -10, .l_len = 5};
  fcntl(hidden, F_OFD_SETLK, &lock);
  fcntl(hidden, F_OFD_GETLK, &lock);
  lock.l_type = F_UNLCK;
  fcntl(hidden, F_OFD_SETLKW, &lock);
  lock.l_type = F_RDLCK;
  lock.l_pid = 0;
  fcntl(hidden, F_SETLKW, &lock);
  fcntl(hidden, F_GETLK, &lock);
  flock(hidden, LOCK_SH);
  flock(hidden, LOCK_UN);
  const int file = open("hello.c", O_RDONLY | O_NOATIME | O_SYNC);
  fcntl(file, F_SETLEASE, F_RDLCK);
  fcntl(file, F_GETLEASE);
  fcntl(file, F_SETLEASE, F_UNLCK);
  fcntl(file, F_SETSIG, SIGUSR1);
  fcntl(file, F_GETSIG);
  fcntl(file, F_SETFL, O_ASYNC | O_DIRECT);
  fcntl(file, F_GETFL);
  unsigned owner[2] = {7, 7};
  fcntl(file, 17 /* F_GETOWNER_UIDS */, owner);
  int flags = 0;
  ioctl(file, FS_IOC_GETFLAGS, &flags);
  ioctl(file, FS_IOC_SETFLAGS, &flags);
  syscall(SYS_fchmodat, AT_FDCWD, "hello.c", 06755);
  struct timespec times[2] = {{1, 5}, {0, UTIME_OMIT}};
  futimens(file, times);
  close(file);
  const int other = openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY);
  unsigned long long how[3] = {O_RDONLY | O_CLOEXEC, 0, 0x04 | 0x10};
  syscall(437, other, "mnt/work/data/text", how, sizeof how);
  how[2] = 0x08 | 0x02 | 0x01;
  syscall(437, AT_FDCWD, "data/text", how, sizeof how);
  syscall(SYS_close_range, 20, 30, 4);
  syscall(SYS_close_range, 20, ~0U, 2);
  umask(077);
}

static void attributed(void) {
  char value[256];
  setxattr("hello.c", "trusted.one", "first", 5, XATTR_CREATE);
  setxattr("hello.c", "trusted.one", "second", 6, XATTR_REPLACE);
  setxattr("hello.c", "trusted.two", NULL, 0, 0);
  getxattr("hello.c", "trusted.one", NULL, 0);
  getxattr("hello.c", "trusted.one", value, 3);
  listxattr("hello.c", value, sizeof value);
  listxattr("hello.c", NULL, 0);
  symlink("nowhere", "dangling");
  lsetxattr("dangling", "trusted.three", "3", 1, 0);
  lgetxattr("dangling", "trusted.three", value, sizeof value);
  llistxattr("dangling", value, sizeof value);
  lremovexattr("dangling", "trusted.three");
  const int file = open("hello.c", O_RDONLY);
  flistxattr(file, value, sizeof value);
  fgetxattr(file, "trusted.one", value, sizeof value);
  close(file);
}

static void copied(void) {
  const int from = open("data/text", O_RDONLY), to = open("copy", O_RDWR | O_CREAT, 0644);
  off64_t offset = 10, into = 5;
  copy_file_range(from, &offset, to, &into, 100, 0);
  copy_file_range(from, NULL, to, NULL, 50, 0);
  off_t place = 3;
  sendfile(to, from, &place, 20);
  int pipes[2];
  pipe2(pipes, O_DIRECT | O_CLOEXEC);
  splice(from, &offset, pipes[1], NULL, 30, SPLICE_F_MORE | SPLICE_F_MOVE);
  tee(pipes[0], pipes[1], 5, SPLICE_F_NONBLOCK);
  splice(pipes[0], NULL, to, &into, 30, 0);
  struct iovec parts[2] = {{"gifted", 6}, {"", 0}};
  vmsplice(pipes[1], parts, 2, SPLICE_F_GIFT);
  char text[64];
  struct iovec room[2] = {{text, 3}, {text + 3, 61}};
  vmsplice(pipes[0], room, 2, SPLICE_F_NONBLOCK);
  preadv(from, room, 2, 1);
  preadv2(from, room, 2, -1, RWF_NOWAIT);
  preadv2(from, room, 1, 1LL << 33, 0);
  pwritev(to, parts, 2, 0);
  pwritev2(to, parts, 1, -1, RWF_APPEND | RWF_SYNC);
  fallocate(to, FALLOC_FL_ZERO_RANGE, 0, 10);
  lseek(to, 0, SEEK_DATA);
  syscall(SYS_sync_file_range, to, 0, 0, 10, 0, 1);
  readahead(from, 1LL << 32, 100);
  posix_fadvise(from, 1, 0, POSIX_FADV_NOREUSE);
}

static void handled(void) {
  struct {
    struct file_handle head;
    unsigned char bytes[128];
  } handle;
  int mount_id;
  handle.head.handle_bytes = sizeof handle.bytes;
  const int root = open("/mnt", O_RDONLY | O_DIRECTORY);
  if (name_to_handle_at(AT_FDCWD, "data/text", &handle.head, &mount_id, AT_SYMLINK_FOLLOW) == 0) {
    open_by_handle_at(root, &handle.head, O_RDONLY | O_CLOEXEC);
  }
  handle.head.handle_bytes = sizeof handle.bytes;
  name_to_handle_at(root, "", &handle.head, &mount_id, AT_EMPTY_PATH);
}

static void watched(void) {
  char text[1024];
  const int notices = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  inotify_add_watch(notices, "data", IN_ALL_EVENTS | IN_MASK_CREATE);
  inotify_add_watch(notices, "data", IN_MOVED_FROM | IN_MASK_ADD | IN_EXCL_UNLINK | IN_ONESHOT);
  rename("data/sub", "data/moved");
  struct pollfd ready = {notices, POLLIN | POLLRDNORM, 0};
  poll(&ready, 1, 0);
  read(notices, text, sizeof text);
  const int group = fanotify_init(FAN_CLASS_CONTENT | FAN_UNLIMITED_QUEUE | FAN_NONBLOCK | FAN_CLOEXEC,
                                  O_RDONLY | O_LARGEFILE | O_CLOEXEC);
  fanotify_mark(group, FAN_MARK_ADD, FAN_OPEN | FAN_CLOSE_NOWRITE | FAN_EVENT_ON_CHILD, AT_FDCWD, "data");
  fanotify_mark(group, FAN_MARK_ADD | FAN_MARK_IGNORED_MASK, FAN_MODIFY, AT_FDCWD, "hello.c");
  fanotify_mark(group, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_ACCESS_PERM, AT_FDCWD, "/mnt/out");
  fanotify_mark(group, FAN_MARK_REMOVE | FAN_MARK_FILESYSTEM, FAN_ACCESS_PERM, AT_FDCWD, "/mnt/out");
  close(open("data/text", O_RDONLY));
  fanotify_mark(group, FAN_MARK_FLUSH, 0, AT_FDCWD, NULL);
  close(group);
}

static void asynchronous(void) {
  aio_context_t context = 0;
  syscall(SYS_io_setup, 8, &context);
  const int file = open("async", O_RDWR | O_CREAT, 0600);
  const int event = eventfd(0, EFD_NONBLOCK);
  static char bytes[64] = "written by an asynchronous call";
  struct iovec parts[2] = {{bytes, 10}, {bytes + 10, 5}};
  struct iocb jobs[6];
  memset(jobs, 0, sizeof jobs);
  const struct {
    int opcode;
    void* buffer;
    unsigned length;
  } wanted[6] = {{IOCB_CMD_PWRITE, bytes, 31}, {IOCB_CMD_PREAD, bytes, 40}, {IOCB_CMD_PWRITEV, parts, 2},
                 {IOCB_CMD_PREADV, parts, 2},  {IOCB_CMD_FSYNC, NULL, 0},   {IOCB_CMD_POLL, (void*)POLLIN, 0}};
  struct iocb* list[6];
  for (int i = 0; i < 6; i++) {
    jobs[i].aio_data = (unsigned)i;
    jobs[i].aio_lio_opcode = (unsigned short)wanted[i].opcode;
    jobs[i].aio_fildes = (unsigned)(wanted[i].opcode == IOCB_CMD_POLL ? event : file);
    jobs[i].aio_buf = (uintptr_t)wanted[i].buffer;
    jobs[i].aio_nbytes = wanted[i].length;
    jobs[i].aio_offset = i;
    list[i] = &jobs[i];
  }
  jobs[1].aio_flags = IOCB_FLAG_RESFD;
  jobs[1].aio_resfd = (unsigned)event;
  jobs[2].aio_rw_flags = RWF_DSYNC;
  struct io_event events[6];
  for (int i = 0; i < 4; i++) {
    syscall(SYS_io_submit, context, 1, list + i);
    syscall(SYS_io_getevents, context, 1, 6, events, NULL);
  }
  syscall(SYS_io_submit, context, 3, list + 2);
  syscall(SYS_io_submit, context, 0, list);
  const struct timespec instant = {0, 0};
  const sigset_t none = {{0}};
  const struct {
    const sigset_t* mask;
    size_t size;
  } masked = {&none, 8};
  syscall(SYS_io_pgetevents, context, 0, 0, events, &instant, &masked);
  syscall(SYS_io_destroy, context);
}

static void rings(void) {
  struct io_uring_params params;
  memset(&params, 0, sizeof params);
  params.flags = IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP | IORING_SETUP_R_DISABLED;
  params.cq_entries = 16;
  const int ring = (int)syscall(SYS_io_uring_setup, 4, &params);
  if (ring < 0) {
    return;
  }
  const int event = eventfd(0, 0);
  struct {
    uint32_t offset, reserved;
    uint64_t files;
  } update = {0, 0, (uintptr_t)(int[1]){1}};
  struct io_uring_restriction restrictions[2];
  memset(restrictions, 0, sizeof restrictions);
  restrictions[0].opcode = IORING_RESTRICTION_REGISTER_OP;
  restrictions[0].register_op = IORING_REGISTER_ENABLE_RINGS;
  restrictions[1].opcode = IORING_RESTRICTION_SQE_OP;
  restrictions[1].sqe_op = IORING_OP_NOP;
  unsigned workers[2] = {1, 2};
  syscall(SYS_io_uring_register, ring, IORING_REGISTER_EVENTFD_ASYNC, &event, 1);
  syscall(SYS_io_uring_register, ring, IORING_UNREGISTER_EVENTFD, NULL, 0);
  syscall(SYS_io_uring_register, ring, IORING_REGISTER_EVENTFD, &event, 1);
  syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, (int[2]){0, -1}, 2);
  syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES_UPDATE, &update, 1);
  syscall(SYS_io_uring_register, ring, IORING_UNREGISTER_FILES, NULL, 0);
  const int personality = (int)syscall(SYS_io_uring_register, ring, IORING_REGISTER_PERSONALITY, NULL, 0);
  syscall(SYS_io_uring_register, ring, IORING_UNREGISTER_PERSONALITY, NULL, personality);
  syscall(SYS_io_uring_register, ring, IORING_REGISTER_IOWQ_MAX_WORKERS, workers, 2);
  syscall(SYS_io_uring_register, ring, IORING_REGISTER_RESTRICTIONS, restrictions, 2);
  syscall(SYS_io_uring_register, ring, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
  char* queue = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
  struct io_uring_sqe* entries = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
  if (queue != MAP_FAILED && entries != MAP_FAILED) {
    memset(entries, 0, 64);
    ((unsigned*)(queue + params.sq_off.array))[0] = 0;
    ++*(unsigned*)(queue + params.sq_off.tail);
  }
  syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 8);
}

int main(void) {
  described();
  controlled();
  attributed();
  copied();
  handled();
  watched();
  asynchronous();
  rings();
  return 0;
}
