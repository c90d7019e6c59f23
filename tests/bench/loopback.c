/* loopback N: a server and its client on 127.0.0.1, which exchange N small messages over one connection. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char** arguments) {
  long messages = count > 1 ? atol(arguments[1]) : 0;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr*)&address, size) != 0 || listen(listener, 1) != 0 ||
      getsockname(listener, (struct sockaddr*)&address, &size) != 0) {
    return 1;
  }
  const int one = 1;
  char message[64] = "";
  const pid_t server = fork();
  if (server == 0) {
    const int client = accept(listener, NULL, NULL);
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    ssize_t got;
    while ((got = recv(client, message, sizeof message, 0)) > 0) {
      if (send(client, message, (size_t)got, 0) != got) {
        _exit(1);
      }
    }
    _exit(0);
  }
  const int out = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(out, (struct sockaddr*)&address, size) != 0) {
    return 1;
  }
  setsockopt(out, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  while (messages-- > 0) {
    if (send(out, message, sizeof message, 0) != sizeof message ||
        recv(out, message, sizeof message, MSG_WAITALL) != sizeof message) {
      return 1;
    }
  }
  close(out);
  int status = 1;
  waitpid(server, &status, 0);
  return status != 0;
}
