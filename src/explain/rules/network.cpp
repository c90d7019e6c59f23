// Ports, addresses, sockets, and name resolution.
#include <fmt/core.h>
#include <netdb.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/read_file.h"
#include "explain/owners.h"
#include "explain/rules/rules.h"
#include "explain/shell_word.h"
#include "explain/socket_address.h"

namespace tracer::explain::rules {

namespace {

std::string service_name(unsigned port) {
  constexpr std::array<std::pair<unsigned, std::string_view>, 13> known = {{{5432, "PostgreSQL"},
                                                                            {3306, "MySQL or MariaDB"},
                                                                            {6379, "Redis"},
                                                                            {27017, "MongoDB"},
                                                                            {5672, "RabbitMQ"},
                                                                            {9092, "Kafka"},
                                                                            {2379, "etcd"},
                                                                            {9200, "Elasticsearch"},
                                                                            {11211, "memcached"},
                                                                            {8080, "HTTP"},
                                                                            {80, "HTTP"},
                                                                            {443, "HTTPS"},
                                                                            {53, "DNS"}}};
  const auto* at = std::find_if(known.begin(), known.end(), [&](const auto& entry) { return entry.first == port; });
  return at == known.end() ? std::string() : std::string(at->second);
}

std::string with_service(const Peer& peer) {
  const std::string service = service_name(peer.port);
  return peer.name() + (service.empty() ? "" : " (the port of " + service + ")");
}

// ---------------------------------------------------------------------------------------------- bind

std::optional<Finding> address_in_use(const Case& facts) {
  const Peer peer = peer_of(facts.call());
  Finding finding;
  if (!peer.path.empty()) {
    finding.rule = "socket-file-exists";
    finding.cause = "the socket " + peer.path + " exists already";
    const bool listening =
        read_file("/proc/net/unix", std::size_t{4} << 20).find(' ' + facts.path() + '\n') != std::string::npos;
    finding.looked_at.emplace_back(listening ? "a process listens on it"
                                             : "no process listens on it: it was left behind");
    finding.remedy = listening ? "stop the process that listens on it (ss -xlp), it is probably another instance"
                               : "rm " + shell_word(peer.path);
    return finding;
  }
  if (peer.port == 0) {
    return std::nullopt;
  }
  finding.cause = "the port is taken: another process has " + peer.name();
  auto listener = listener_on("tcp", peer.port);
  if (!listener) {
    listener = listener_on("udp", peer.port);
  }
  if (listener) {
    std::vector<std::string> names;
    for (const pid_t pid : listener->processes) {
      if (pid != facts.process.pid) {
        names.push_back(describe_process(pid));
      }
    }
    if (!names.empty()) {
      finding.cause = "the port is taken: " + join(names, ", ") + " has " + listener->address;
      finding.remedy = fmt::format("stop {}, or choose another port than {}", names.front(), peer.port);
    }
    finding.looked_at.push_back(listener->address + " is in use" + (names.empty() ? "" : " by " + join(names, ", ")));
  }
  if (finding.remedy.empty()) {
    finding.remedy =
        fmt::format("ss -lnp 'sport = :{}' shows who has it; stop that, or choose another port", peer.port);
  }
  return finding;
}

std::optional<Finding> low_port(const Case& facts) {
  const Peer peer = peer_of(facts.call());
  if (peer.port == 0 || peer.port >= 1024) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = fmt::format("{} may not listen on port {}, a privileged one", facts.prober.user(), peer.port);
  const std::string first = read_file("/proc/sys/net/ipv4/ip_unprivileged_port_start", 32);
  finding.looked_at.push_back("net.ipv4.ip_unprivileged_port_start is " + first.substr(0, first.find('\n')));
  finding.remedy =
      "choose a port from 1024 on, or setcap cap_net_bind_service=+ep " + shell_word(facts.process.executable());
  return finding;
}

std::optional<Finding> wrong_address(const Case& facts) {
  const Peer peer = peer_of(facts.call());
  Finding finding;
  finding.cause = "this machine does not have the address " + peer.host;
  finding.remedy = "listen on an address that it has (ip address), or on 0.0.0.0 or [::]";
  name_source(finding, source_of_address(facts.prober, peer.host, peer.port));
  return finding;
}

// ---------------------------------------------------------------------------------------------- connect

/// Returns the service of the socket at a path and how to start it, separated by a newline; empty if it is unknown.
std::string socket_owner(const std::string& path) {
  struct Known {
    std::string_view part;
    std::string_view service;
    std::string_view start;
  };
  constexpr std::array<Known, 11> known = {{
      {".X11-unix", "the X server (DISPLAY)", "start a graphical session, or set DISPLAY to one that runs"},
      {"dbus", "the D-Bus daemon", "systemctl start dbus"},
      {"/bus", "the session's D-Bus daemon", "start it in a session, or with dbus-run-session"},
      {"wayland", "the Wayland compositor", "start it in a graphical session"},
      {".s.PGSQL", "PostgreSQL", "systemctl start postgresql"},
      {"mysqld", "MySQL or MariaDB", "systemctl start mysql"},
      {"docker", "the Docker daemon", "systemctl start docker"},
      {"containerd", "containerd", "systemctl start containerd"},
      {"redis", "Redis", "systemctl start redis"},
      {"/dev/log", "the system log", "systemctl start systemd-journald"},
      {"tmux", "the tmux server", "tmux new"},
  }};
  const auto* at = std::find_if(known.begin(), known.end(),
                                [&](const Known& entry) { return path.find(entry.part) != std::string::npos; });
  return at == known.end() ? std::string() : std::string(at->service) + '\n' + std::string(at->start);
}

std::optional<Finding> unix_socket(const Case& facts) {
  const Peer peer = peer_of(facts.call());
  if (peer.path.empty() || peer.path.find("nscd") != std::string::npos) {
    return std::nullopt;
  }
  const std::string socket = facts.path().empty() ? peer.path : facts.path();
  const std::string owner = socket_owner(peer.path);
  const std::string service = owner.substr(0, owner.find('\n'));
  Finding finding;
  if (facts.call().error == "EACCES") {
    finding.cause = facts.prober.user() + " may not connect to the socket " + socket;
    finding.looked_at.push_back(facts.prober.describe_path(facts.prober.walk(facts.path())));
    finding.remedy = "add the user to the socket's group, or run as its owner";
    return finding;
  }
  const bool absent = facts.call().error == "ENOENT";
  finding.cause =
      (service.empty() ? "the server" : service) + " is not running: " +
      (absent ? "its socket " + socket + " does not exist" : "nobody listens on its socket " + socket + " any more");
  if (peer.path.front() != '@') {
    finding.looked_at.push_back(facts.prober.describe_path(facts.prober.walk(facts.path())));
  }
  finding.remedy = owner.empty() ? "start the server of " + socket : owner.substr(owner.find('\n') + 1);
  name_source(finding, source_of_path(facts.prober, facts.path(), facts.path()));
  return finding;
}

/// Returns the X display that a program asks for at `peer`, such as `:99` (X(7)); empty if it is none.
std::string display_of(const Peer& peer) {
  constexpr unsigned first_port = 6000;
  constexpr unsigned last_port = 6100;
  if (peer.path.find(".X11-unix/X") != std::string::npos) {
    return ':' + peer.path.substr(peer.path.rfind('X') + 1);
  }
  const bool is_display = peer.port >= first_port && peer.port < last_port;
  return is_display ? fmt::format("{}:{}", peer.host, peer.port - first_port) : std::string();
}

std::optional<Finding> no_display(const Case& facts) {
  const auto& steps = facts.process.steps;
  const auto asked = std::find_if(steps.begin(), steps.end(), [](const Step& step) {
    return step.call.name == "connect" && !display_of(peer_of(step.call)).empty();
  });
  const std::string display = environment_value(facts.process, "DISPLAY");
  Finding finding;
  if (asked == steps.end() && !display.empty()) {
    finding.rule = "server-not-running";
    finding.cause = "no X server can be reached at " + printable(display) + ", which DISPLAY names";
    finding.looked_at.emplace_back("it connected to no X server: the name of the host or the number is wrong");
    finding.remedy = "set DISPLAY to a display that runs; over ssh use -X; without a screen, xvfb-run";
    return finding;
  }
  if (asked == steps.end()) {
    finding.cause = "it needs a graphical display, and the environment names none (DISPLAY, WAYLAND_DISPLAY)";
    finding.looked_at.emplace_back("it connected to no X server");
    finding.remedy = "start it in a graphical session; over ssh with -X; without a screen, with xvfb-run";
    return finding;
  }
  finding.rule = "server-not-running";
  finding.cause = "no X server runs for the display " + (display.empty() ? display_of(peer_of(asked->call)) : display) +
                  (display.empty() ? "" : ", which DISPLAY names");
  finding.evidence.push_back(&*asked);
  finding.remedy = "set DISPLAY to a display that runs; over ssh use -X; without a screen, xvfb-run";
  return finding;
}

bool is_name_server(const Peer& peer) {
  constexpr unsigned name_server_port = 53;
  return peer.port == name_server_port;
}

std::optional<Finding> refused(const Case& facts) {
  const Peer peer = peer_of_step(facts.process, *facts.step);
  const bool is_display = !display_of(peer).empty() && contains(facts.messages, "isplay");  // see no_display()
  if (peer.port == 0 || is_name_server(peer) || is_display) {
    return std::nullopt;
  }
  Finding finding;
  const std::string& error = facts.call().error;
  if (error == "ECONNREFUSED") {
    finding.cause = "nobody listens at " + with_service(peer) + ": the connection was refused";
    if (peer.host.compare(0, 4, "127.") == 0 || peer.host == "::1") {
      finding.looked_at.push_back(fmt::format("no process on this machine listens on port {}", peer.port));
      if (const auto listener = listener_on("tcp", peer.port); listener) {
        finding.looked_at.back() = "now " + listener->address + " is listened on: it came too late";
      }
    }
    finding.remedy = "start the server of " + peer.name() + ", or correct the address";
    name_source(finding, source_of_address(facts.prober, peer.host, peer.port));
    return finding;
  }
  finding.rule = "unreachable";
  finding.cause = with_service(peer) + " cannot be reached (" + error + ")";
  finding.remedy = error == "ENETUNREACH" ? "no route leads there: see ip route, and whether the network is up"
                                          : "see whether that machine is up, and whether a firewall is in between";
  finding.weight = -5;
  name_source(finding, source_of_address(facts.prober, peer.host, peer.port));
  return finding;
}

// ---------------------------------------------------------------------------------------------- answers

/// Returns the status line of an HTTP response (RFC 9112, section 4) from its code on: "404 Not Found"; empty if the
/// text is none.
std::string http_status(const std::string& text) {
  const std::string line = text.starts_with("HTTP/1.") ? word_after(text, " ", "\r\n") : std::string();
  const bool has_code = line.size() >= 3 &&
                        std::all_of(line.begin(), line.begin() + 3, [](char one) { return one >= '0' && one <= '9'; });
  return has_code ? printable(line) : std::string();
}

/// The last answer of an HTTP server, if it is an error and the program says nothing. What it says itself is not
/// repeated.
std::optional<Finding> http_error(const Case& facts) {
  std::string status;
  Finding finding;
  std::string request;
  for (const Step& step : facts.process.steps) {
    const Call& call = step.call;
    if (step.order < facts.process.last_exec) {
      continue;
    }
    if (call.name == "connect") {
      request.clear();
    } else if (call.name == "sendto" && contains(call.argument("buf").value.text, " HTTP/1.")) {
      const std::string& text = call.argument("buf").value.text;
      request = printable(text.substr(0, text.find(" HTTP/1.")));
    } else if (const std::string line = call.name == "recvfrom" ? http_status(call.argument("buf").value.text) : "";
               !line.empty()) {
      status = line;
      finding.evidence = {&step};
    }
  }
  if (status < "400" || !facts.messages.empty()) {
    return std::nullopt;
  }
  finding.cause = with_service(peer_of_step(facts.process, *finding.evidence.front())) + " answered " + status +
                  (request.empty() ? "" : " to " + request);
  finding.remedy = status.front() == '5' ? "see the log of that server"
                   : status.starts_with("401") || status.starts_with("403")
                       ? "check the user, the password or the token"
                       : "check the address that was asked for";
  return finding;
}

// ---------------------------------------------------------------------------------------------- names

/// The DNS queries of the program since its exec.
struct DnsQueries {
  std::vector<std::string> servers;  ///< addresses without duplicates
  std::vector<const Step*> evidence;
  std::string reply;  ///< outcome of the last query; empty: unknown
  std::string name;   ///< what was asked for first; empty: unknown
};

/// Describes the response code in the header of a DNS message (RFC 1035, section 4.1.1); empty for success.
std::string reply_in(const std::string& packet) {
  constexpr std::size_t header_size = 12;
  const unsigned code = packet.size() < header_size ? 0 : static_cast<unsigned char>(packet[3]) & 15U;
  return code == 3   ? "it answered that the name does not exist"
         : code == 2 ? "it answered that it failed"
         : code == 5 ? "it refused to answer"
                     : "";
}

DnsQueries dns_queries(const Case& facts) {
  DnsQueries asked;
  for (const Step& step : facts.process.steps) {
    if (step.order < facts.process.last_exec) {
      continue;
    }
    const bool returned = step.call.outcome == CallOutcome::returned;
    if (step.call.name == "connect") {
      const Peer peer = peer_of(step.call);
      if (is_name_server(peer) &&
          std::find(asked.servers.begin(), asked.servers.end(), peer.host) == asked.servers.end()) {
        asked.servers.push_back(peer.host);
        asked.evidence.push_back(&step);
      }
    } else if (asked.servers.empty()) {
      continue;
    } else if (is_listed(step.call.name, "poll ppoll") && returned && step.call.result == 0) {
      asked.reply = "no answer came";
    } else if (step.call.failed_with("ECONNREFUSED") && step.call.name.starts_with("recv")) {
      asked.reply = "nobody listens there";
    } else if (step.call.name == "recvfrom" && returned) {
      const std::string& packet = step.call.argument("buf").value.text;
      const std::string reply = reply_in(packet);
      asked.name = asked.name.empty() ? name_asked(packet) : asked.name;
      asked.reply = reply.empty() ? asked.reply : reply;
    }
  }
  return asked;
}

/// Returns the addresses of the nameserver lines in the text of a resolv.conf(5).
std::string configured_servers(const std::string& text) {
  std::string configured;
  for (std::size_t at = text.find("nameserver"); at != std::string::npos; at = text.find("nameserver", at + 1)) {
    const std::string server = word_after(text.substr(at), "nameserver", "\n");
    configured += (configured.empty() ? "" : ",") + printable(server);
  }
  return configured;
}

std::optional<Finding> name_service(const Case& facts) {
  const DnsQueries asked = dns_queries(facts);
  constexpr std::array<std::string_view, 10> complaints = {
      "name resolution", "esolve host", "esolve name", "not resolve",  " to resolve",
      "Name or service", "nodename",    "getaddrinfo", "no such host", "UnknownHostException"};
  const bool words = std::any_of(complaints.begin(), complaints.end(),
                                 [&](std::string_view complaint) { return contains(facts.messages, complaint); });
  if ((asked.servers.empty() || asked.reply.empty()) && !words) {
    return std::nullopt;
  }
  Finding finding;
  finding.evidence = asked.evidence;
  const std::string servers = join(asked.servers, ", ");
  const bool no_such_name = contains(asked.reply, "does not exist") || contains(facts.messages, ": no such host");
  std::string wanted = asked.name;
  if (const std::string line = line_with(facts.messages, ": Name or service not known"); wanted.empty()) {
    const std::string said = word_before(line, ": Name or service not known");
    wanted = said.find_first_of(" '\"") == std::string::npos ? printable(said) : std::string();
  }
  for (const std::string_view before : {"resolve host: ", "resolve proxy: ", "resolve hostname "}) {
    const std::string said = word_after(facts.messages, before, " :;,\n");
    wanted = said.empty() ? wanted : printable(said);
  }
  const std::string name = wanted.empty() ? "a host name" : "the host name " + wanted;
  finding.cause = no_such_name ? name + " does not exist"
                  : servers.empty() || asked.reply.empty()
                      ? name + " could not be resolved"
                      : "the name server " + servers + " does not answer, so " + name + " cannot be resolved";
  if (!asked.reply.empty()) {
    finding.looked_at.push_back(servers + ": " + asked.reply);
  }
  const std::string configured = configured_servers(read_file(facts.prober.tracer_path("/etc/resolv.conf")));
  finding.looked_at.push_back(configured.empty() ? "/etc/resolv.conf names no server"
                                                 : "/etc/resolv.conf: nameserver" + configured);
  finding.remedy = no_such_name ? "correct the name, or add it to /etc/hosts"
                                : "correct nameserver in /etc/resolv.conf, or see whether the network is up";
  return finding;
}

/// A connection that was refused after connect(2) returned, if no watched call reports it: read(2) gets the error.
std::optional<Finding> refused_in_words(const Case& facts) {
  const auto& steps = facts.process.steps;
  const auto asked = std::find_if(steps.rbegin(), steps.rend(), [&](const Step& step) {
    return step.order >= facts.process.last_exec && step.call.name == "connect" &&
           (step.kind == Step::Kind::other || step.call.error == "EINPROGRESS") && peer_of(step.call).port != 0 &&
           !is_name_server(peer_of(step.call));
  });
  if (asked == steps.rend()) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = "nobody listens at " + with_service(peer_of(asked->call)) + ": the connection was refused";
  finding.evidence.push_back(&*asked);
  finding.remedy = "start that server, or correct the address and the port";
  return finding;
}

/// A server that took the connection and then said nothing for as long as the program waits.
std::optional<Finding> no_answer(const Case& facts) {
  Peer peer;
  const Step* asked = nullptr;
  for (const Step& step : facts.process.steps) {
    const bool connects = step.call.name == "connect" && step.order >= facts.process.last_exec;
    if (const Peer one = connects ? peer_of(step.call) : Peer(); one.port != 0 && !is_name_server(one)) {
      peer = one;
      asked = &step;
    }
  }
  if (asked == nullptr || (asked->kind == Step::Kind::failure && asked->call.error != "EINPROGRESS")) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = with_service(peer) + " did not answer in time";
  finding.evidence.push_back(asked);
  finding.remedy = "see what that server does (tracer --explain -p PID there), or let the program wait longer";
  return finding;
}

std::optional<Finding> reset(const Case& facts) {
  const Peer peer = peer_of_step(facts.process, *facts.step);
  if (!contains(facts.messages, "reset by") && !contains(facts.messages, "ECONNRESET") &&
      !contains(facts.messages, "roken pipe")) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = (peer.port != 0      ? with_service(peer)
                   : peer.path.empty() ? "the other end"
                                       : peer.path) +
                  " broke the connection off: it closed the connection, or its process ended";
  finding.remedy = "see what that server says (its log): it may have crashed, or refuse this client";
  return finding;
}

/// socket(7): only with SO_BROADCAST may a socket send to a broadcast address.
std::optional<Finding> broadcast(const Case& facts) {
  const Peer peer = peer_of(facts.call());
  if (!peer.host.ends_with(".255")) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = peer.host + " is a broadcast address, and its socket has not the option SO_BROADCAST";
  finding.remedy = "the program has to set SO_BROADCAST on the socket, or to use another address";
  return finding;
}

constexpr std::string_view connecting = "connect getsockopt";

/// A name on the command line that no network interface has; some programs do not repeat it.
std::optional<Finding> no_such_interface(const Case& facts) {
  const bool is_of_interface = contains(facts.messages, "no device matches name");
  const auto words = facts.process.words();
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool may_be = !word.empty() && word.front() != '-' && word.find_first_of("/ .:") == std::string::npos;
    const bool is_said = is_named(word, facts.messages) || (is_of_interface && i + 1 == words.size());
    const bool is_chosen = is_of_interface || is_listed(words[i - 1], "-i -I --interface dev --device");
    if (may_be && is_said && is_chosen && !facts.prober.exists("/sys/class/net/" + word)) {
      Finding finding;
      finding.cause = "this machine has no network interface " + printable(word);
      finding.remedy = "correct its name (ip link lists them)";
      return finding;
    }
  }
  return std::nullopt;
}

constexpr Rule network_table[] = {
    {"no-such-interface", 45, "", "", "No such device|no device matches name", "", no_such_interface},
    {"port-in-use", 40, "bind listen", "EADDRINUSE", "", "", address_in_use},
    {"privileged-port", 40, "bind", "EACCES", "", "", low_port},
    {"wrong-address", 40, "bind", "EADDRNOTAVAIL", "", "", wrong_address},
    {"server-not-running", 28, "connect", "ENOENT ECONNREFUSED EACCES", "", "", unix_socket},
    {"no-display", 60, "", "",
     "cannot open display|an't open display|could not connect to display|nable to open X display|annot open X display|"
     "nable to init server|without a $DISPLAY|cannot open X11 display",
     "", no_display},
    {"connection-refused", 28, connecting, "ECONNREFUSED ETIMEDOUT ENETUNREACH EHOSTUNREACH", "", "", refused},
    {"connection-refused", 28, "recvfrom recvmsg sendto", "ECONNREFUSED", "", "", refused},
    {"connection-closed", 25, "recvfrom recvmsg sendto sendmsg connect getsockopt", "ECONNRESET EPIPE", "", "", reset},
    {"broadcast-not-allowed", 40, "sendto connect", "EACCES", "", "", broadcast},
    {"connection-refused", 10, "", "", "onnection refused", "", refused_in_words},
    {"no-answer", 25, "", "", "timed out|imed out|ime out|ETIMEDOUT", "", no_answer},
    {"name-not-resolved", 30, "recvfrom recvmsg sendto sendmmsg poll ppoll connect",
     "ECONNREFUSED ENETUNREACH EHOSTUNREACH", "", "", name_service},
    {"name-not-resolved", 25, "", "",
     "name resolution|resolve host|resolve name|not resolve|unable to resolve|failed to resolve|Name or service not "
     "known|"
     "getaddrinfo|nodename|: no such host|UnknownHostException",
     "", name_service},
    {"name-not-resolved", 10, "", "", "", "exit", name_service},
    {"http-error", 20, "", "", "", "exit", http_error},
};

}  // namespace

std::span<const Rule> network_rules() {
  return network_table;
}

}  // namespace tracer::explain::rules
