// Gives everything that has a name one that drives terminals, forges lines and breaks out of JSON: hostile_names [fail]
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOSTILE "\033]0;x\007\n+++ FORGED\r\"\\,\"f\":1\x9b\xff; touch FORGED"

static void must(int done, const char* what) {
  if (!done) {
    perror(what);
    exit(1);
  }
}

static void* named_thread(void* unused) {
  prctl(PR_SET_NAME, "\033[2J\n\"FORGED");
  getppid();
  return unused;
}

static void use_files(void) {
  const int memory = memfd_create(HOSTILE, 0);
  must(write(memory, "x", 1) == 1, "memfd");
  must(mkdir(HOSTILE, 0700) == 0 && chdir(HOSTILE) == 0, "directory");
  const int file = open("\n+++ FORGED\033", O_CREAT | O_RDWR, 0600);
  must(write(file, "hello", 5) == 5, "file");
  must(unlink("\n+++ FORGED\033") == 0, "unlink");
  must(write(file, "hello", 5) == 5, "deleted file");
}

static void use_sockets(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "s\n+++ FORGED\033\""};
  const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  must(bind(listening, (const void*)&address, sizeof address) == 0 && listen(listening, 1) == 0, "socket");
  const int client = socket(AF_UNIX, SOCK_STREAM, 0);
  must(connect(client, (const void*)&address, sizeof address) == 0, "connect");
  const int server = accept(listening, NULL, NULL);
  char byte = 'q';
  must(write(server, &byte, 1) == 1 && read(client, &byte, 1) == 1, "exchange");
  memcpy(address.sun_path, "\0ab\n+++ FORGED\033", 16);
  const int abstract = socket(AF_UNIX, SOCK_DGRAM, 0);
  must(bind(abstract, (const void*)&address, sizeof(sa_family_t) + 16) == 0, "abstract socket");
  must(write(abstract, &byte, 1) < 0, "nobody listens");
}

int main(int argc, char** argv) {
  prctl(PR_SET_NAME, "\n+++ FORGED\"\033");
  use_files();
  use_sockets();
  pthread_t thread;
  pthread_create(&thread, NULL, named_thread, NULL);
  pthread_join(thread, NULL);
  const pid_t child = fork();
  if (child == 0) {
    execve("/nonexistent" HOSTILE, argv, NULL);
    _exit(7);
  }
  waitpid(child, NULL, 0);
  if (argc > 1) {
    must(open("/nonexistent" HOSTILE "/x", O_RDONLY) >= 0, "/nonexistent" HOSTILE);
  }
  raise(SIGSEGV);
}
