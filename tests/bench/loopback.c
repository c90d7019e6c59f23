/* loopback N: a busy server on 127.0.0.1 and its clients, which exchange N small messages in all over four connections,
 * with a process at each end. With one connection both CPUs of a small machine would mostly sleep, and the time would
 * tell where the scheduler has put the two ends: 0.2 s on one CPU, 0.3 or 0.9 on two. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { connections = 4, message_size = 64 };

static void send_at_once(int socket) {
  const int one = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static int serve(int client) {
  char message[message_size];
  ssize_t got;
  send_at_once(client);
  while ((got = recv(client, message, sizeof message, 0)) > 0) {
    if (send(client, message, (size_t)got, 0) != got) {
      return 1;
    }
  }
  return 0;
}

static int ask(const struct sockaddr_in* server, long messages) {
  char message[message_size] = "";
  const int out = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(out, (const struct sockaddr*)server, sizeof *server) != 0) {
    return 1;
  }
  send_at_once(out);
  while (messages-- > 0) {
    if (send(out, message, sizeof message, 0) != sizeof message ||
        recv(out, message, sizeof message, MSG_WAITALL) != sizeof message) {
      return 1;
    }
  }
  return 0;
}

int main(int count, char** arguments) {
  const long messages = count > 1 ? atol(arguments[1]) : 0;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr*)&address, size) != 0 || listen(listener, connections) != 0 ||
      getsockname(listener, (struct sockaddr*)&address, &size) != 0) {
    return 1;
  }
  for (int i = 0; i < connections; ++i) {
    if (fork() == 0) {
      _exit(serve(accept(listener, NULL, NULL)));
    }
    if (fork() == 0) {
      _exit(ask(&address, messages / connections));
    }
  }
  int failed = 0;
  int status;
  while (wait(&status) > 0) {
    failed |= status != 0;
  }
  return failed;
}
