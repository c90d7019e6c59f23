#include "explain/peers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "base/directory.h"
#include "base/read_file.h"
#include "explain/owners.h"
#include "explain/prober.h"
#include "explain/record.h"
#include "explain/rule.h"
#include "explain/system_view.h"
#include "explain/text_search.h"
#include "proc/mounts.h"
#include "proc/proc_files.h"
#include "proc/proc_text.h"
#include "proc/sock_diag.h"
#include "proc/unix_sockets.h"

namespace tracer::explain {

namespace {

constexpr std::size_t largest_table = std::size_t{4} << 20;

/// True for this process, and for its parent if that runs the same program: it may be the foreground proxy.
bool is_tracer(pid_t pid) {
  return pid == ::getpid() ||
         (pid == ::getppid() && read_link(proc::proc_path(pid, "exe")) == read_link("/proc/self/exe"));
}

/// A row of /proc/PID/net/{tcp,udp}{,6}.
struct Row {
  std::string local;
  std::string remote;
  unsigned state = 0;
  unsigned long inode = 0;
  bool v6 = false;
};

std::vector<Row> rows_of(pid_t pid, const char* table, bool v6) {
  std::vector<Row> rows;
  std::istringstream lines(
      read_file(proc::proc_path(pid, fmt::format("net/{}{}", table, v6 ? "6" : "")), largest_table));
  for (std::string line; std::getline(lines, line);) {
    std::array<char, 64> local{};
    std::array<char, 64> remote{};
    Row row;
    row.v6 = v6;
    if (std::sscanf(line.c_str(), " %*u: %47s %47s %x %*s %*s %*s %*u %*u %lu", local.data(), remote.data(), &row.state,
                    &row.inode) == 4) {
      row.local = local.data();
      row.remote = remote.data();
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

/// Formats "0100007F:1538" as 127.0.0.1:5432. The address consists of 32-bit words in host byte order; the port is
/// hexadecimal.
std::string format_address(const std::string& text, bool v6) {
  const std::size_t colon = text.find(':');
  const std::string digits = text.substr(0, colon);
  std::array<std::uint32_t, 4> words{};
  for (std::size_t i = 0; i < words.size() && (i + 1) * 8 <= digits.size(); ++i) {
    words[i] = static_cast<std::uint32_t>(std::strtoul(digits.substr(i * 8, 8).c_str(), nullptr, 16));
  }
  std::array<char, INET6_ADDRSTRLEN> host{};
  ::inet_ntop(v6 ? AF_INET6 : AF_INET, words.data(), host.data(), host.size());
  const unsigned long port = colon == std::string::npos ? 0 : std::strtoul(text.c_str() + colon + 1, nullptr, 16);
  return fmt::format("{}:{}", v6 ? '[' + std::string(host.data()) + ']' : std::string(host.data()), port);
}

std::optional<std::string> internet_socket(pid_t pid, unsigned long inode) {
  constexpr unsigned listening = 10;
  constexpr unsigned connecting = 2;
  for (const char* table : {"tcp", "udp"}) {
    for (const bool v6 : {false, true}) {
      const std::vector<Row> rows = rows_of(pid, table, v6);
      const auto own = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.inode == inode; });
      if (own == rows.end()) {
        continue;
      }
      if (own->state == listening) {
        return "connections to " + format_address(own->local, v6);
      }
      const std::string remote = format_address(own->remote, v6);
      constexpr std::string_view name_service = ":0035";  // port 53
      if (own->remote.ends_with(name_service)) {
        return "the name server " + remote + " to answer (DNS)";
      }
      if (own->remote.find(":0000") != std::string::npos && own->remote.rfind(":0000") == own->remote.size() - 5) {
        return std::string(table) + " packets to " + format_address(own->local, v6);
      }
      std::string text = own->state == connecting ? remote + " to accept the connection"
                                                  : remote + ", at the other end of a connection";
      const auto peer = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
        return row.local == own->remote && row.remote == own->local && row.inode != 0;
      });
      const std::string port = own->remote.substr(own->remote.find(':'));
      const auto listener = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
        return row.state == listening && row.local.size() > port.size() &&
               row.local.compare(row.local.size() - port.size(), port.size(), port) == 0;
      });
      if (peer == rows.end() && listener != rows.end()) {
        text += " (" + describe_processes(holders_of(fmt::format("socket:[{}]", listener->inode))) +
                ", which has not accepted it yet)";
      } else if (peer != rows.end()) {
        text += " (" + describe_processes(holders_of(fmt::format("socket:[{}]", peer->inode))) + ")";
      }
      return text;
    }
  }
  return std::nullopt;
}

std::string unix_socket(pid_t pid, unsigned long inode) {
  std::istringstream lines(read_file(proc::proc_path(pid, "net/unix"), largest_table));
  std::string path;
  bool listening = false;
  for (std::string line; std::getline(lines, line);) {
    unsigned long number = 0;
    unsigned flags = 0;
    int path_at = 0;
    if (std::sscanf(line.c_str(), "%*s %*s %*s %x %*s %*s %lu %n", &flags, &number, &path_at) == 2 && number == inode) {
      constexpr unsigned accepts = 0x10000;
      listening = (flags & accepts) != 0;
      path = path_at > 0 && static_cast<std::size_t>(path_at) < line.size()
                 ? line.substr(static_cast<std::size_t>(path_at))
                 : "";
    }
  }
  if (listening) {
    return "connections to the socket " + printable(path);
  }
  const auto known = proc::find_unix_socket(proc::open_sock_diag().get(), static_cast<std::uint32_t>(inode));
  const std::uint32_t peer = known ? known->peer : 0;
  const std::vector<pid_t> holders = peer == 0 ? std::vector<pid_t>() : holders_of(fmt::format("socket:[{}]", peer));
  return std::string("a Unix socket") + (path.empty() ? "" : " (" + printable(path) + ")") +
         (holders.empty() ? ", whose other end no process has that can be seen"
                          : ", whose other end is in " + describe_processes(holders));
}

/// Describes what an inotify descriptor watches. The kernel reports the device and inode number of each file; those
/// that the process has open have a name.
std::string watched_files(pid_t pid, std::int64_t fd) {
  constexpr std::size_t max_watches = 64;
  constexpr unsigned minor_bits = 20;  // of a dev_t inside the kernel
  std::set<std::pair<std::uint64_t, std::uint64_t>> watched;
  std::istringstream lines(read_file(proc::descriptor_path(pid, fd, "fdinfo")));
  for (std::string line; watched.size() < max_watches && std::getline(lines, line);) {
    unsigned long inode = 0;
    unsigned device = 0;
    if (std::sscanf(line.c_str(), "inotify wd:%*x ino:%lx sdev:%x", &inode, &device) == 2) {
      watched.emplace(::makedev(device >> minor_bits, device & ((1U << minor_bits) - 1)), inode);
    }
  }
  std::vector<std::string> names;
  for_each_entry(proc::proc_path(pid, "fd"), [&](const char* name) {
    const int other = std::atoi(name);
    const auto mounted = proc::mount_of_descriptor(pid, other);
    struct stat info;
    const bool is_known =
        !(mounted && proc::may_block(*mounted)) && ::stat(proc::descriptor_path(pid, other).c_str(), &info) == 0;
    if (is_known && watched.erase({info.st_dev, info.st_ino}) != 0) {
      names.push_back(printable(read_link(proc::descriptor_path(pid, other))));
    }
    return !watched.empty();
  });
  if (names.empty()) {
    return fmt::format("changes of files that it watches ({}, inotify)", watched.size());
  }
  return "changes of " + join_first(names) + (watched.empty() ? "" : " and other files") + " (inotify)";
}

}  // namespace

Peers::OtherEnd Peers::find_other_end(pid_t pid, std::int64_t fd, const std::string& link) {
  const auto [at, is_new] = pipes_.try_emplace(link);
  if (is_new) {
    at->second = pipe_holders(link);
  }
  const std::optional<int> mode = access_mode(pid, fd);
  OtherEnd end{{}, mode == O_RDONLY ? "can write to" : mode == O_WRONLY ? "can read from" : "has open, too"};
  for (const PipeHolder& holder : at->second) {
    const bool is_other = mode == O_RDONLY ? holder.can_write : mode == O_WRONLY ? holder.can_read : true;
    if (is_other && holder.pid != pid && !is_tracer(holder.pid)) {
      end.holders.push_back(holder.pid);
    }
  }
  return end;
}

std::string_view standard_stream(std::int64_t fd) {
  constexpr std::array<std::string_view, 3> names = {"standard input", "standard output", "standard error"};
  const bool is_one = fd >= 0 && fd < static_cast<std::int64_t>(names.size());
  return is_one ? names.at(static_cast<std::size_t>(fd)) : std::string_view();
}

std::string Peers::describe(pid_t pid, std::int64_t fd) {
  const auto held = [&](const char* kind, const std::string& path) {
    const OtherEnd end = find_other_end(pid, fd, path);
    return fmt::format("{} that {} {}", kind,
                       end.holders.empty() ? "no other process" : describe_processes(end.holders), end.use);
  };
  const std::string link = read_link(proc::descriptor_path(pid, fd));
  const std::string_view standard = standard_stream(fd);
  std::string number = standard.empty() ? fmt::format("descriptor {}", fd) : std::string(standard);
  if (link.empty()) {
    return number;
  }
  if (link == "anon_inode:inotify") {
    return watched_files(pid, fd);
  }
  if (link.compare(0, 6, "pipe:[") == 0) {
    return number + ", " + held("a pipe", link);
  }
  if (link.compare(0, 8, "socket:[") == 0) {
    const unsigned long inode = std::strtoul(link.c_str() + 8, nullptr, 10);
    const auto internet = internet_socket(pid, inode);
    return number + ": " + (internet ? *internet : unix_socket(pid, inode));
  }
  const auto mounted = proc::mount_of_descriptor(pid, fd);
  const bool remote = mounted && proc::may_block(*mounted);
  struct stat info;
  const bool known = !remote && ::stat(proc::descriptor_path(pid, fd).c_str(), &info) == 0;
  std::string kind;
  if (known && S_ISFIFO(info.st_mode)) {
    kind = " (" + held("a FIFO", link) + ')';
  } else if (link.compare(0, 8, "/dev/pts") == 0 || link.compare(0, 8, "/dev/tty") == 0) {
    kind = " (a terminal: it waits for input)";
  } else if (remote) {
    kind = ", on " + printable(mounted->point) + " (" + printable(mounted->type) + ")";
  }
  return number + ", " + printable(link) + kind;
}

pid_t Peers::other_end(pid_t pid, std::int64_t fd) {
  const std::string link = read_link(proc::descriptor_path(pid, fd));
  if (!link.starts_with("pipe:[")) {
    return 0;
  }
  const std::vector<pid_t> holders = find_other_end(pid, fd, link).holders;
  return holders.size() == 1 && proc::threads_of(holders.front()).size() == 1 ? holders.front() : 0;
}

}  // namespace tracer::explain
