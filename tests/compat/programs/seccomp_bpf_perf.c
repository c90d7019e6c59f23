// Filters of calls and a process that answers for them; programs of BPF, their maps, links and ids; events of perf.
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static union bpf_attr attr;

static int bpf(int command, size_t size) {
  const int result = (int)syscall(SYS_bpf, command, &attr, size);
  memset(&attr, 0, sizeof attr);
  return result;
}

static int map_of(int type, unsigned key, unsigned value, unsigned flags, const char* name) {
  attr.map_type = (unsigned)type;
  attr.key_size = key;
  attr.value_size = value;
  attr.max_entries = 4;
  attr.map_flags = flags;
  strcpy(attr.map_name, name);
  return bpf(BPF_MAP_CREATE, 72);
}

static void maps(void) {
  const int map = map_of(BPF_MAP_TYPE_HASH, 4, 8, BPF_F_NO_PREALLOC, "hashed");
  map_of(BPF_MAP_TYPE_LPM_TRIE, 8, 4, BPF_F_NO_PREALLOC, "");
  map_of(BPF_MAP_TYPE_RINGBUF, 0, 0, 0, "ring");
  const int values = map_of(BPF_MAP_TYPE_ARRAY, 4, 4, BPF_F_MMAPABLE | BPF_F_RDONLY_PROG, "");
  uint32_t key = 1, next = 0;
  uint64_t value = 5;
  for (int command = 0; command < 4; command++) {
    static const int commands[4] = {BPF_MAP_UPDATE_ELEM, BPF_MAP_LOOKUP_ELEM, BPF_MAP_GET_NEXT_KEY,
                                    BPF_MAP_DELETE_ELEM};
    attr.map_fd = (unsigned)map;
    attr.key = (uintptr_t)&key;
    attr.value = command == 2 ? (uintptr_t)&next : command == 3 ? 0 : (uintptr_t)&value;
    attr.flags = command == 0 ? BPF_NOEXIST : 0;
    bpf(commands[command], 32);
  }
  uint32_t keys[4] = {0}, found[4] = {0};
  attr.batch.out_batch = (uintptr_t)&next;
  attr.batch.keys = (uintptr_t)keys;
  attr.batch.values = (uintptr_t)found;
  attr.batch.count = 4;
  attr.batch.map_fd = (unsigned)values;
  bpf(BPF_MAP_LOOKUP_BATCH, 56);
  attr.map_fd = (unsigned)map;
  bpf(BPF_MAP_FREEZE, 4);
  attr.pathname = (uintptr_t) "/mnt/tmp/none";
  attr.bpf_fd = (unsigned)map;
  bpf(BPF_OBJ_PIN, 12);
  attr.pathname = (uintptr_t) "/mnt/tmp/none";
  attr.file_flags = BPF_F_RDONLY;
  bpf(BPF_OBJ_GET, 16);
}

static void programs(void) {
  const struct bpf_insn code[2] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1}, {.code = BPF_JMP | BPF_EXIT}};
  static char log[4096];
  attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
  attr.insn_cnt = 2;
  attr.insns = (uintptr_t)code;
  attr.license = (uintptr_t) "GPL";
  attr.log_level = 1;
  attr.log_size = sizeof log;
  attr.log_buf = (uintptr_t)log;
  strcpy(attr.prog_name, "named");
  const int program = bpf(BPF_PROG_LOAD, 72);
  char packet[64] = {0};
  attr.test.prog_fd = (unsigned)program;
  attr.test.data_size_in = sizeof packet;
  attr.test.data_in = (uintptr_t)packet;
  attr.test.repeat = 1;
  bpf(BPF_PROG_TEST_RUN, 64);
  int pair[2];
  socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
  setsockopt(pair[0], SOL_SOCKET, SO_ATTACH_BPF, &program, sizeof program);
  setsockopt(pair[0], SOL_SOCKET, SO_DETACH_FILTER, &program, sizeof program);
  struct sock_filter classic[1] = {{BPF_RET | BPF_K, 0, 0, 0xffff}};
  const struct sock_fprog filter = {1, classic};
  setsockopt(pair[1], SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);

  attr.prog_type = BPF_PROG_TYPE_CGROUP_SKB;
  attr.insn_cnt = 2;
  attr.insns = (uintptr_t)code;
  attr.license = (uintptr_t) "GPL";
  attr.expected_attach_type = BPF_CGROUP_INET_EGRESS;
  const int per_group = bpf(BPF_PROG_LOAD, 72);
  const int group = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY);
  attr.target_fd = (unsigned)group;
  attr.attach_bpf_fd = (unsigned)per_group;
  attr.attach_type = BPF_CGROUP_INET_EGRESS;
  attr.attach_flags = 3;
  bpf(BPF_PROG_ATTACH, 20);
  attr.link_create.prog_fd = (unsigned)per_group;
  attr.link_create.target_fd = 99;
  attr.link_create.attach_type = BPF_CGROUP_INET_EGRESS;
  bpf(BPF_LINK_CREATE, 16);
  attr.query.target_fd = 99;
  attr.query.attach_type = BPF_CGROUP_INET_EGRESS;
  attr.query.query_flags = 1;
  bpf(BPF_PROG_QUERY, 32);
  attr.start_id = 0x7ffffff0;
  bpf(BPF_PROG_GET_NEXT_ID, 12);
  attr.map_id = 0x7ffffff0;
  bpf(BPF_MAP_GET_FD_BY_ID, 12);
  attr.raw_tracepoint.name = (uintptr_t) "no_such_point";
  attr.raw_tracepoint.prog_fd = (unsigned)program;
  bpf(BPF_RAW_TRACEPOINT_OPEN, 12);
  attr.btf = (uintptr_t)log;
  attr.btf_size = 24;
  bpf(BPF_BTF_LOAD, 28);
}

static void counters(void) {
  struct perf_event_attr event;
  memset(&event, 0, sizeof event);
  event.type = PERF_TYPE_SOFTWARE;
  event.size = sizeof event;
  event.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
  event.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED;
  event.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN;
  event.sample_period = 1000;
  event.disabled = 1;
  const int leader = (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  event.config = PERF_COUNT_SW_DUMMY;
  event.disabled = 0;
  event.freq = 1;
  const int member =
      (int)syscall(SYS_perf_event_open, &event, 0, -1, leader, PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT);
  uint64_t id;
  ioctl(leader, PERF_EVENT_IOC_ID, &id);
  ioctl(leader, PERF_EVENT_IOC_REFRESH, 3);
  ioctl(leader, PERF_EVENT_IOC_PERIOD, &(uint64_t){2000});
  ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
  ioctl(member, PERF_EVENT_IOC_SET_OUTPUT, -1);
  ioctl(leader, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
  ioctl(leader, PERF_EVENT_IOC_SET_FILTER, "ip == 5");
  mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, leader, 0);
}

static void answered(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgid, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getsid, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EDOM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {sizeof code / sizeof *code, code};
  unsigned action = SECCOMP_RET_USER_NOTIF;
  syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
  struct seccomp_notif_sizes sizes;
  syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
  if (listener < 0) {
    return;
  }
  sigset_t ended;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  sigprocmask(SIG_BLOCK, &ended, NULL);
  const pid_t child = fork();
  if (child == 0) {
    syscall(SYS_getpgid, 77);
    syscall(SYS_getpgid, 78);
    syscall(SYS_getpgid, 79);
    _exit(0);
  }
  for (int turn = 0; turn < 3; turn++) {
    struct seccomp_notif question;
    struct seccomp_notif_resp answer;
    memset(&question, 0, sizeof question);
    memset(&answer, 0, sizeof answer);
    struct pollfd asked = {listener, POLLIN, 0};
    poll(&asked, 1, -1);
    ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question);
    ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &question.id);
    if (turn == 1) {
      struct seccomp_notif_addfd added = {question.id, SECCOMP_ADDFD_FLAG_SETFD, 0, 50, O_CLOEXEC};
      ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &added);
    }
    answer.id = question.id;
    answer.val = turn == 0 ? 1234 : 0;
    answer.error = turn == 1 ? -EXDEV : 0;
    answer.flags = turn == 2 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
  waitpid(child, NULL, 0);
  struct pollfd over = {listener, POLLIN, 0};
  poll(&over, 1, 0);
  getsid(0);
  prctl(PR_GET_SECCOMP);
}

int main(void) {
  maps();
  programs();
  counters();
  answered();
  return 0;
}
