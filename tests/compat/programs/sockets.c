// Sockets of the usual families, their addresses, options and messages.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static void unix_sockets(void) {
  int pair[2];
  socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
  send(pair[0], "hello", 5, MSG_NOSIGNAL);
  char buffer[64];
  recv(pair[1], buffer, sizeof buffer, MSG_PEEK);
  recvfrom(pair[1], buffer, sizeof buffer, 0, NULL, NULL);
  union {
    char bytes[CMSG_SPACE(2 * sizeof(int))];
    struct cmsghdr align;
  } control;
  memset(&control, 0, sizeof control);
  struct iovec parts[2] = {{"one", 3}, {"two", 3}};
  struct msghdr message = {
      .msg_iov = parts, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = sizeof control};
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(2 * sizeof(int));
  memcpy(CMSG_DATA(header), (int[]){0, 1}, 2 * sizeof(int));
  sendmsg(pair[0], &message, MSG_DONTWAIT);
  struct iovec into = {buffer, sizeof buffer};
  message.msg_iov = &into;
  message.msg_iovlen = 1;
  recvmsg(pair[1], &message, MSG_CMSG_CLOEXEC);
  recvmsg(pair[1], &message, MSG_DONTWAIT);
  sendmsg(pair[1], (struct msghdr*)1, 0);
  struct mmsghdr many[2] = {{{.msg_iov = parts, .msg_iovlen = 1}}, {{.msg_iov = parts, .msg_iovlen = 2}}};
  sendmmsg(pair[0], many, 2, 0);
  struct mmsghdr received[2] = {{{.msg_iov = &into, .msg_iovlen = 1}}, {{.msg_iov = &into, .msg_iovlen = 1}}};
  recvmmsg(pair[1], received, 2, MSG_DONTWAIT, NULL);
  const int on = 1;
  setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  getsockopt(pair[0], SOL_SOCKET, SO_PEERCRED, &credentials, &length);
  shutdown(pair[0], SHUT_WR);

  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
  const int server = socket(AF_UNIX, SOCK_STREAM, 0);
  bind(server, (struct sockaddr*)&address, sizeof address);
  listen(server, 5);
  const int client = socket(AF_UNIX, SOCK_STREAM, 0);
  connect(client, (struct sockaddr*)&address, sizeof address);
  struct sockaddr_un from;
  length = sizeof from;
  accept(server, (struct sockaddr*)&from, &length);
  length = sizeof from;
  getpeername(client, (struct sockaddr*)&from, &length);
  length = 4;
  getsockname(server, (struct sockaddr*)&from, &length);
  struct sockaddr_un abstract = {.sun_family = AF_UNIX, .sun_path = "\0hid<>n"};
  bind(client, (struct sockaddr*)&abstract, offsetof(struct sockaddr_un, sun_path) + 7);
  strcpy(abstract.sun_path, "missing");
  connect(socket(AF_UNIX, SOCK_DGRAM, 0), (struct sockaddr*)&abstract, sizeof abstract);
}

static void internet_sockets(void) {
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_TCP);
  const int on = 1;
  setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(server, SOL_SOCKET, SO_LINGER, &(struct linger){1, 5}, sizeof(struct linger));
  setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){1, 5}, sizeof(struct timeval));
  setsockopt(server, SOL_SOCKET, 12345, &on, 3);
  setsockopt(server, 999, 1, (void*)1, 4);
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(7777), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  bind(server, (struct sockaddr*)&address, sizeof address);
  listen(server, SOMAXCONN);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  connect(client, (struct sockaddr*)&address, sizeof address);
  struct sockaddr_in from;
  socklen_t length = sizeof from;
  const int accepted = accept4(server, (struct sockaddr*)&from, &length, SOCK_CLOEXEC);
  accept4(server, NULL, NULL, 0);
  int value;
  length = sizeof value;
  getsockopt(accepted, SOL_SOCKET, SO_ERROR, &value, &length);
  getsockopt(accepted, SOL_SOCKET, SO_TYPE, &value, &length);
  getsockopt(accepted, IPPROTO_TCP, TCP_MAXSEG, &value, &length);
  getsockopt(accepted, SOL_SOCKET, SO_SNDBUF, (void*)1, &length);
  getsockopt(99, SOL_SOCKET, SO_SNDBUF, &value, (void*)1);
  send(client, "data", 4, MSG_MORE | MSG_DONTROUTE);
  char buffer[16];
  recv(accepted, buffer, sizeof buffer, MSG_WAITALL | MSG_DONTWAIT);
  shutdown(client, SHUT_RDWR);
  shutdown(accepted, 77);

  const int datagrams = socket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP);
  struct sockaddr_in6 six = {.sin6_family = AF_INET6,
                             .sin6_port = htons(7778),
                             .sin6_addr = IN6ADDR_LOOPBACK_INIT,
                             .sin6_flowinfo = htonl(5),
                             .sin6_scope_id = 1};
  bind(datagrams, (struct sockaddr*)&six, sizeof six);
  sendto(datagrams, "six", 3, 0, (struct sockaddr*)&six, sizeof six);
  struct sockaddr_in6 sender;
  length = sizeof sender;
  recvfrom(datagrams, buffer, sizeof buffer, 0, (struct sockaddr*)&sender, &length);
  setsockopt(datagrams, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  sendto(datagrams, "x", 1, MSG_CONFIRM, (struct sockaddr*)&address, 3);
  connect(datagrams, (struct sockaddr*)&(struct sockaddr){.sa_family = AF_UNSPEC}, sizeof(struct sockaddr));
  connect(datagrams, (void*)1, 16);
  struct ifreq request = {.ifr_name = "lo"};
  ioctl(datagrams, SIOCGIFINDEX, &request);
  ioctl(datagrams, SIOCGIFFLAGS, &request);
}

static void netlink_sockets(void) {
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  bind(fd, (struct sockaddr*)&(struct sockaddr_nl){.nl_family = AF_NETLINK, .nl_groups = 1},
       sizeof(struct sockaddr_nl));
  struct {
    struct nlmsghdr header;
    struct rtgenmsg body;
  } request = {{.nlmsg_len = sizeof request,
                .nlmsg_type = RTM_GETLINK,
                .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                .nlmsg_seq = 1},
               {.rtgen_family = AF_UNSPEC}};
  sendto(fd, &request, sizeof request, 0, NULL, 0);
  char buffer[16384];
  recv(fd, buffer, sizeof buffer, 0);
  recv(fd, buffer, 20, 0);
  socket(AF_PACKET, SOCK_RAW, htons(3));
  socket(99, 77, 55);
  socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
}

static void machine_sockets(void) {
  const int fd = socket(AF_VSOCK, SOCK_STREAM, 0);
  for (int option = 0; option < 10; ++option) {
    unsigned char value[16];
    socklen_t length = sizeof value;
    if (getsockopt(fd, AF_VSOCK, option, value, &length) == 0) setsockopt(fd, AF_VSOCK, option, value, length);
  }
}

int main(void) {
  unix_sockets();
  internet_sockets();
  netlink_sockets();
  machine_sockets();
}
