// Requests to NETLINK_ROUTE, to families of generic netlink, and what the kernel says about the loopback interface,
// whole, cut short and wrong.
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static unsigned char message[512];
static size_t size;

static void begin(uint16_t type, uint16_t flags, const void* body, size_t body_size) {
  memset(message, 0, sizeof message);
  const struct nlmsghdr header = {.nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_seq = 1};
  memcpy(message, &header, sizeof header);
  memcpy(message + sizeof header, body, body_size);
  size = sizeof header + body_size;
}

static void attribute(uint16_t type, const void* value, size_t value_size) {
  const struct nlattr header = {.nla_len = (uint16_t)(sizeof header + value_size), .nla_type = type};
  memcpy(message + size, &header, sizeof header);
  memcpy(message + size + sizeof header, value, value_size);
  size += NLA_ALIGN(sizeof header + value_size);
}

static void finish(int fd) {
  const uint32_t length = (uint32_t)size;
  memcpy(message, &length, sizeof length);
  sendto(fd, message, size, 0, NULL, 0);
}

int main(void) {
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  const struct sockaddr_nl own = {.nl_family = AF_NETLINK, .nl_pid = 7777};
  const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  bind(fd, (const struct sockaddr*)&own, sizeof own);

  // Without NLM_F_REQUEST the kernel ignores them.
  const struct ifinfomsg link = {.ifi_family = AF_UNSPEC, .ifi_index = 1, .ifi_flags = 0x51};
  begin(RTM_NEWLINK, 0, &link, sizeof link);
  attribute(IFLA_IFNAME, "lo", 3);
  attribute(IFLA_MTU, &(uint32_t){1500}, 4);
  attribute(IFLA_MTU, "x", 1);
  attribute(IFLA_IFALIAS, "no end", 6);
  attribute(77 | NLA_F_NESTED, "unknown", 7);
  finish(fd);
  sendto(fd, message, 20, 0, NULL, 0);
  sendto(fd, message, 3, 0, NULL, 0);
  begin(RTM_DELLINK, 0x700, &link, sizeof link);
  attribute(IFLA_QDISC, "q", 2);
  finish(fd);
  // strace takes the family for the kind of hardware, whose addresses have so many bytes.
  for (unsigned char family = 0; family < 40; ++family) {
    begin(RTM_NEWLINK, 0, &(struct ifinfomsg){.ifi_family = family}, sizeof link);
    attribute(IFLA_ADDRESS, "1", 1);
    attribute(IFLA_BROADCAST, "12345678", 8);
    attribute(IFLA_PERM_ADDRESS, "123456789012345678901234567890123", 32);
    attribute(IFLA_ADDRESS, "123456789012345678901234567890123", 33);
    attribute(IFLA_EXT_MASK, "123456789", 9);
    attribute(IFLA_QDISC, "123456789012345678901234567890\0more", 36);
    attribute(IFLA_QDISC, "1234567890123456789012345678901\0more", 37);
    finish(fd);
  }
  const struct ifaddrmsg address = {
      .ifa_family = AF_INET, .ifa_prefixlen = 8, .ifa_scope = RT_SCOPE_HOST, .ifa_index = 1};
  begin(RTM_NEWADDR, 0, &address, sizeof address);
  attribute(IFA_LOCAL, "\177\0\0\1", 4);
  finish(fd);
  const struct rtmsg route = {.rtm_family = AF_INET6, .rtm_table = RT_TABLE_MAIN, .rtm_protocol = RTPROT_STATIC};
  begin(RTM_NEWROUTE, 0, &route, sizeof route);
  attribute(RTA_DST, "\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17", 16);
  attribute(RTA_OIF, &(uint32_t){1}, 4);
  attribute(RTA_GATEWAY, "short", 5);
  finish(fd);
  begin(NLMSG_NOOP, 0, "abc", 3);
  finish(fd);
  begin(999, 0xffff & ~NLM_F_REQUEST, "\2data", 5);
  finish(fd);

  // Answers that do not change from run to run.
  char answer[8192];
  begin(RTM_GETADDR, NLM_F_REQUEST, &address, sizeof address);
  finish(fd);
  recv(fd, answer, sizeof answer, MSG_DONTWAIT);
  begin(999, NLM_F_REQUEST | NLM_F_ACK, "\2", 1);
  finish(fd);
  struct iovec part = {answer, sizeof answer};
  struct sockaddr_nl from = kernel;
  struct msghdr received = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &part, .msg_iovlen = 1};
  recvmsg(fd, &received, MSG_DONTWAIT);
  part = (struct iovec){message, size};
  struct msghdr sent = {.msg_name = (void*)&kernel, .msg_namelen = sizeof kernel, .msg_iov = &part, .msg_iovlen = 1};
  sendmsg(fd, &sent, 0);
  sent.msg_name = NULL;
  sent.msg_namelen = 0;
  sendmsg(fd, &sent, 0);
  close(fd);

  // Families of generic netlink: the numbers that this kernel has given out, and some that it has not. Without
  // NLM_F_REQUEST it ignores what is said to them, which is nothing: strace 6.1 shows bytes where we show what they
  // mean.
  const int generic = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
  bind(generic, (const struct sockaddr*)&own, sizeof own);
  for (uint16_t family = 15; family < 64; family++) {
    begin(family, 0, "", 0);
    finish(generic);
  }
  close(generic);

  // Subsystems of netfilter and their messages, one cut short; attributes only in what is of no subsystem, as
  // strace 6.1 has names for none.
  const int netfilter = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
  bind(netfilter, (const struct sockaddr*)&own, sizeof own);
  for (uint16_t type = 0x10; type < 0xe00; type = (uint16_t)((type & 0xff) < 13 ? type + 1 : (type | 0xff) + 1)) {
    begin(type, 0xf00, "\2\0\0\7", 4);
    if (type >= 0xd00) {
      attribute(1, "name", 5);
      attribute(2 | NLA_F_NESTED, "\10\0\1\0\1\2\3\4", 8);
    }
    finish(netfilter);
  }
  begin(0xa00, 0, "\2\1", 2);
  finish(netfilter);
  close(netfilter);
}
