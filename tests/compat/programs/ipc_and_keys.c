// System V and POSIX ipc in all their commands, and keyrings.
#include <fcntl.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <signal.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

union semun {
  int val;
  struct semid_ds* buf;
  unsigned short* array;
  struct seminfo* __buf;
};

static void semaphores(void) {
  const int id = semget(0x4321, 3, IPC_CREAT | IPC_EXCL | 0640);
  semget(0x4321, 0, 0);
  semget(0x4321, 3, IPC_CREAT | IPC_EXCL | 0600);
  struct semid_ds set;
  struct seminfo limits;
  unsigned short values[3] = {1, 2, 3};
  union semun argument = {.buf = &set};
  semctl(id, 0, IPC_STAT, argument);
  set.sem_perm.mode = 0600;
  semctl(id, 0, IPC_SET, argument);
  argument.array = values;
  semctl(id, 0, SETALL, argument);
  semctl(id, 0, GETALL, argument);
  argument.val = 4;
  semctl(id, 1, SETVAL, argument);
  semctl(id, 1, GETVAL, argument);
  semctl(id, 1, GETPID, argument);
  semctl(id, 1, GETNCNT, argument);
  semctl(id, 1, GETZCNT, argument);
  argument.__buf = &limits;
  semctl(0, 0, IPC_INFO, argument);
  semctl(0, 0, SEM_INFO, argument);
  argument.buf = &set;
  semctl(0, 0, SEM_STAT, argument);
  semctl(0, 0, SEM_STAT_ANY, argument);
  struct sembuf operations[3] = {{0, -1, SEM_UNDO}, {1, 0, IPC_NOWAIT}, {2, 5, IPC_NOWAIT | SEM_UNDO}};
  semop(id, operations, 1);
  const struct timespec instant = {0, 1};
  semtimedop(id, operations, 3, &instant);
  semtimedop(id, operations + 2, 1, NULL);
  semctl(id, 0, IPC_RMID, argument);
}

static void segments(void) {
  const int id = shmget(0x5321, 12288, IPC_CREAT | IPC_EXCL | SHM_NORESERVE | 0600);
  shmget(IPC_PRIVATE, 1 << 21, IPC_CREAT | SHM_HUGETLB | 0600);
  struct shmid_ds segment;
  struct shminfo limits;
  struct shm_info use;
  shmctl(id, IPC_STAT, &segment);
  segment.shm_perm.uid = 5;
  shmctl(id, IPC_SET, &segment);
  shmctl(0, IPC_INFO, (void*)&limits);
  shmctl(0, SHM_INFO, (void*)&use);
  shmctl(0, SHM_STAT, &segment);
  shmctl(0, SHM_STAT_ANY, &segment);
  shmctl(id, SHM_LOCK, NULL);
  shmctl(id, SHM_UNLOCK, NULL);
  void* at = shmat(id, NULL, SHM_EXEC);
  shmat(id, at, SHM_REMAP | SHM_RDONLY);
  shmat(id, (char*)0x50000123, SHM_RND);
  shmdt(at);
  shmctl(id, IPC_RMID, NULL);
}

static void message_queues(void) {
  const int id = msgget(0x6321, IPC_CREAT | IPC_EXCL | 0600);
  struct msqid_ds queue;
  struct msginfo limits;
  msgctl(id, IPC_STAT, &queue);
  queue.msg_qbytes = 1000;
  msgctl(id, IPC_SET, &queue);
  msgctl(0, IPC_INFO, (void*)&limits);
  msgctl(0, MSG_INFO, (void*)&limits);
  msgctl(0, MSG_STAT, &queue);
  msgctl(0, MSG_STAT_ANY, &queue);
  struct {
    long type;
    char text[64];
  } message = {7, "a message that is longer than thirty-two characters"};
  msgsnd(id, &message, 52, 0);
  message.type = 3;
  msgsnd(id, &message, 0, IPC_NOWAIT);
  msgrcv(id, &message, 64, 0, MSG_COPY | IPC_NOWAIT);
  msgrcv(id, &message, 64, 7, MSG_EXCEPT);
  msgrcv(id, &message, 10, -9, MSG_NOERROR);
  msgctl(id, IPC_RMID, NULL);
}

static void posix(void) {
  struct mq_attr attributes = {.mq_maxmsg = 3, .mq_msgsize = 100};
  const mqd_t queue = mq_open("/exchange", O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
  const struct timespec past = {1, 5};
  mq_send(queue, "first", 5, 0);
  mq_timedsend(queue, "second", 6, 31, &past);
  char text[100];
  unsigned priority;
  mq_receive(queue, text, sizeof text, &priority);
  mq_timedreceive(queue, text, sizeof text, NULL, &past);
  mq_timedreceive(queue, text, sizeof text, NULL, &past);
  attributes.mq_flags = O_NONBLOCK;
  mq_setattr(queue, &attributes, &attributes);
  mq_getattr(queue, &attributes);
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_NONE;
  mq_notify(queue, &event);
  mq_notify(queue, NULL);
  mq_close(queue);
  mq_unlink("/exchange");
}

static long keyctl(int command, long a, long b, long c, long d) {
  return syscall(SYS_keyctl, command, a, b, c, d);
}

static void keyrings(void) {
  const long session = keyctl(KEYCTL_JOIN_SESSION_KEYRING, (long)"exchange", 0, 0, 0);
  const long ring = syscall(SYS_add_key, "keyring", "ring", NULL, 0, KEY_SPEC_SESSION_KEYRING);
  const long key = syscall(SYS_add_key, "user", "key", "a \"secret\"\n", 11, ring);
  char text[128];
  keyctl(KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0, 0, 0);
  keyctl(KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING, 1, 0, 0);
  keyctl(KEYCTL_UPDATE, key, (long)"other", 5, 0);
  keyctl(KEYCTL_CHOWN, key, 0, -1, 0);
  keyctl(KEYCTL_SETPERM, key, 0x3f3f0000, 0, 0);
  keyctl(KEYCTL_DESCRIBE, key, (long)text, sizeof text, 0);
  keyctl(KEYCTL_DESCRIBE, key, 0, 0, 0);
  keyctl(KEYCTL_READ, key, (long)text, sizeof text, 0);
  keyctl(KEYCTL_SEARCH, session, (long)"user", (long)"key", KEY_SPEC_THREAD_KEYRING);
  keyctl(KEYCTL_LINK, key, session, 0, 0);
  keyctl(KEYCTL_MOVE, key, session, KEY_SPEC_PROCESS_KEYRING, 1);
  keyctl(KEYCTL_UNLINK, key, KEY_SPEC_PROCESS_KEYRING, 0, 0);
  keyctl(KEYCTL_SET_REQKEY_KEYRING, KEY_REQKEY_DEFL_SESSION_KEYRING, 0, 0, 0);
  keyctl(KEYCTL_SET_TIMEOUT, key, 1000, 0, 0);
  keyctl(KEYCTL_GET_SECURITY, key, (long)text, sizeof text, 0);
  keyctl(KEYCTL_GET_PERSISTENT, -1, KEY_SPEC_SESSION_KEYRING, 0, 0);
  keyctl(KEYCTL_RESTRICT_KEYRING, ring, 0, 0, 0);
  syscall(SYS_request_key, "user", "key", NULL, 0);
  syscall(SYS_request_key, "user", "none", "information", KEY_SPEC_SESSION_KEYRING);
  keyctl(KEYCTL_INVALIDATE, key, 0, 0, 0);
  keyctl(KEYCTL_CLEAR, ring, 0, 0, 0);
  keyctl(KEYCTL_REVOKE, ring, 0, 0, 0);
  keyctl(KEYCTL_ASSUME_AUTHORITY, 0, 0, 0, 0);
  keyctl(KEYCTL_SESSION_TO_PARENT, 0, 0, 0, 0);
}

int main(void) {
  semaphores();
  segments();
  message_queues();
  posix();
  keyrings();
  return 0;
}
