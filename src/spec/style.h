// Styles determine how a scalar is interpreted and printed. A description sets one by `as NAME`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracer::spec {

// The order is that of `style_names`.
enum class Style : std::uint8_t {
  number,   // decimal, signed if the type is
  hex,      // 0x2a, 0 for zero
  octal,    // 0644, 0 for zero
  mode,     // permission bits with file type: S_IFREG|0644; a bare mode argument is 0644
  address,  // 0x7ffc…, NULL for zero
  fd,       // 3, with -y 3</path>
  dirfd,    // AT_FDCWD or fd
  tgid,     // process id
  tid,      // thread id
  pgid,     // process group id
  uid,      // -1 is printed as -1
  gid,
  signal,         // SIGINT; SIG_0 for zero where strace prints 0
  handler,        // SIG_DFL, SIG_IGN, address
  wait_status,    // [{WIFEXITED(s) && WEXITSTATUS(s) == 0}]
  path,           // for a string: never cut by -s, matched by -P
  device,         // makedev(0x8, 0x1)
  ifindex,        // if_nametoindex("lo")
  pages,          // a number of 4096-byte pages, printed as bytes in hex (mmap2)
  tls,            // thread area: address, or struct user_desc on 32 bit
  ioctl,          // an ioctl request without a name: _IOC(_IOC_READ, 0x54, 0x1, 0x4)
  big_endian,     // number in network order, printed in host order: htons(80) and the like
  port,           // htons(80)
  inet4,          // inet_addr("127.0.0.1")
  inet6,          // inet_pton(AF_INET6, "::1")
  mac,            // 00:11:22:33:44:55
  errno_value,    // ENOENT
  clock_ticks,    // 1/100 s: 262 /* 2.62 s */
  time,           // seconds since the epoch: 5 /* 1970-01-01T00:00:05+0000 */
  text,           // for bytes: a NUL at their end is not printed
  floating,       // a float (4 bytes) or a double: 2.5
  character,      // 'a'; EOF for -1
  code,           // the address of a function
  whole,          // for bytes and text: never cut by -s
  terminated,     // for bytes: they end before a NUL
  truth,          // true, false
  guess,          // small numbers decimal, others hexadecimal: the meaning is unknown
  bit_set,        // the numbers of the bits: <1,3-5>, or of the clear bits: ~<0>; also for bytes
  hex_floating,   // a float or a double: 0x1.4p+1
  microseconds,   // 1500 /* 0.001500 s */
  nanoseconds,    // 1500 /* 0.000001500 s */
  binary,         // 0b101, 0 for zero
  network,        // number or constant in network order: htons(AF_INET), htonl(5), htobe64(5)
  bluetooth,      // constant in Bluetooth's byte order, which is little-endian: htobs(L2CAP_PSM_SDP)
  negated_errno,  // -ENOENT; other numbers are printed as they are
  padded,         // 0x000007: as wide as the type, prefix included; zeros for zero; also for bytes
  commented,      // the number, its name always as a comment: 0x1 /* PIDTYPE_TGID */
  call_number,    // the number of a system call: __NR_write
  noted,          // as commented, even with -X raw
  uuid,           // for bytes: 01020304-0506-0708-090a-0b0c0d0e0f10
};

inline constexpr std::array<std::string_view, 50> style_names = {
    "number",      "hex",     "octal",      "mode",      "address",       "fd",         "dirfd",        "tgid",
    "tid",         "pgid",    "uid",        "gid",       "signal",        "handler",    "wait_status",  "path",
    "device",      "ifindex", "pages",      "tls",       "ioctl",         "big_endian", "port",         "inet4",
    "inet6",       "mac",     "errno",      "ticks",     "time",          "text",       "floating",     "character",
    "code",        "whole",   "terminated", "truth",     "guess",         "bits",       "hex_floating", "microseconds",
    "nanoseconds", "binary",  "network",    "bluetooth", "negated_errno", "padded",     "commented",    "call",
    "noted",       "uuid"};

static_assert(style_names.size() == static_cast<std::size_t>(Style::uuid) + 1);

constexpr std::string_view name_of(Style style) {
  return style_names[static_cast<std::size_t>(style)];
}

}  // namespace tracer::spec
