// What else the kernel offers, in calls that succeed where the machine allows them: rings, programs, counters, watches,
// keys, devices.
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/fs.h>
#include <linux/if.h>
#include <linux/if_alg.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/loop.h>
#include <linux/perf_event.h>
#include <linux/vm_sockets.h>
#include <stdint.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <termios.h>
#include <unistd.h>

static void rings(void) {
  struct io_uring_params params;
  memset(&params, 0, sizeof params);
  const int ring = (int)syscall(SYS_io_uring_setup, 4, &params);
  if (ring < 0) {
    return;
  }
  struct {
    struct io_uring_probe head;
    struct io_uring_probe_op ops[8];
  } probe;
  memset(&probe, 0, sizeof probe);
  syscall(SYS_io_uring_register, ring, IORING_REGISTER_PROBE, &probe, 8);
  struct iovec buffer = {&probe, sizeof probe};
  syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &buffer, 1);
  syscall(SYS_io_uring_register, ring, IORING_UNREGISTER_BUFFERS, NULL, 0);
  const int files[2] = {0, 1};
  syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, files, 2);
  syscall(SYS_io_uring_enter, ring, 0, 0, IORING_ENTER_GETEVENTS, NULL, 0);
  close(ring);
}

static void programs(void) {
  union bpf_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.map_type = BPF_MAP_TYPE_ARRAY;
  attr.key_size = 4;
  attr.value_size = 8;
  attr.max_entries = 2;
  const int map = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, 72);
  uint32_t key = 1;
  uint64_t value = 5;
  memset(&attr, 0, sizeof attr);
  attr.map_fd = (uint32_t)map;
  attr.key = (uintptr_t)&key;
  attr.value = (uintptr_t)&value;
  syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &attr, 32);
  syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &attr, 32);
  const struct bpf_insn code[2] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0},
                                   {.code = BPF_JMP | BPF_EXIT}};
  memset(&attr, 0, sizeof attr);
  attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
  attr.insn_cnt = 2;
  attr.insns = (uintptr_t)code;
  attr.license = (uintptr_t) "GPL";
  const int program = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, 72);
  close(program);
  close(map);
}

static void counters(void) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.size = sizeof attr;
  attr.config = PERF_COUNT_SW_PAGE_FAULTS;
  attr.disabled = 1;
  attr.exclude_kernel = 1;
  const int event = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  ioctl(event, PERF_EVENT_IOC_RESET, 0);
  ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
  ioctl(event, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
  close(event);
}

static void watches(void) {
  const int group = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK, O_RDONLY);
  fanotify_mark(group, FAN_MARK_ADD, FAN_OPEN | FAN_CLOSE_WRITE, AT_FDCWD, "data");
  fanotify_mark(group, FAN_MARK_FLUSH, 0, AT_FDCWD, "data");
  close(group);
}

static void keys(void) {
  syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, "tracer");
  const long key = syscall(SYS_add_key, "user", "probe", "secret", 6, KEY_SPEC_PROCESS_KEYRING);
  char text[64];
  syscall(SYS_keyctl, KEYCTL_READ, key, text, sizeof text);
  syscall(SYS_keyctl, KEYCTL_SETPERM, key, 0x3f3f0000);
  syscall(SYS_keyctl, KEYCTL_REVOKE, key);
  unsigned char able[2] = {0, 0};
  syscall(SYS_keyctl, KEYCTL_CAPABILITIES, able, sizeof able);
}

static void devices(void) {
  const int master = open("/dev/ptmx", O_RDWR | O_NOCTTY);
  int zero = 0;
  unsigned int number = 0;
  ioctl(master, TIOCSPTLCK, &zero);
  ioctl(master, TIOCGPTN, &number);
  struct winsize size = {24, 80, 0, 0};
  ioctl(master, TIOCSWINSZ, &size);
  ioctl(master, TIOCGWINSZ, &size);
  close(master);
  const int tun = open("/dev/net/tun", O_RDWR);
  struct ifreq request;
  memset(&request, 0, sizeof request);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  strcpy(request.ifr_name, "probe%d");
  ioctl(tun, TUNSETIFF, &request);
  unsigned int features = 0;
  ioctl(tun, TUNGETFEATURES, &features);
  close(tun);
  const int control = open("/dev/loop-control", O_RDWR);
  ioctl(control, LOOP_CTL_GET_FREE, 0);
  close(control);
}

static void mounts(void) {
  mkdir("mounted", 0755);
  mount("none", "mounted", "tmpfs", MS_NOSUID | MS_NODEV, "size=64k");
  umount2("mounted", 0);
  const int context = (int)syscall(SYS_fsopen, "tmpfs", 1);
  syscall(SYS_fsconfig, context, 1, "size", "64k", 0);
  syscall(SYS_fsconfig, context, 6, NULL, NULL, 0);
  const int made = (int)syscall(SYS_fsmount, context, 1, 2);
  syscall(SYS_move_mount, made, "", AT_FDCWD, "mounted", 4);
  close(made);
  umount2("mounted", 0);
  close(context);
}

static void families(void) {
  const int hash = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const struct sockaddr_alg algorithm = {.salg_family = AF_ALG, .salg_type = "hash", .salg_name = "sha1"};
  bind(hash, (const struct sockaddr*)&algorithm, sizeof algorithm);
  close(hash);
  const int guest = socket(AF_VSOCK, SOCK_STREAM, 0);
  const struct sockaddr_vm any = {.svm_family = AF_VSOCK, .svm_port = VMADDR_PORT_ANY, .svm_cid = VMADDR_CID_ANY};
  bind(guest, (const struct sockaddr*)&any, sizeof any);
  close(guest);
  const int packets = socket(AF_PACKET, SOCK_RAW, 0);
  const struct sockaddr_ll loopback = {.sll_family = AF_PACKET, .sll_protocol = 0x0300, .sll_ifindex = 1};
  bind(packets, (const struct sockaddr*)&loopback, sizeof loopback);
  struct tpacket_stats dropped;
  socklen_t size = sizeof dropped;
  getsockopt(packets, SOL_PACKET, PACKET_STATISTICS, &dropped, &size);
  close(packets);
  const int others[] = {AF_CAN, AF_BLUETOOTH, AF_TIPC, AF_XDP, AF_QIPCRTR, AF_KCM, AF_RDS, AF_PHONET};
  for (unsigned i = 0; i < sizeof others / sizeof *others; ++i) {
    close(socket(others[i], SOCK_DGRAM, 0));
  }
}

int main(void) {
  rings();
  programs();
  counters();
  watches();
  keys();
  devices();
  mounts();
  families();
  return 0;
}
