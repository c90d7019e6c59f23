// --format=pcapng: what went through sockets, as packets (draft-ietf-opsawg-pcapng; LINKTYPE_RAW).
#pragma once

#include <string>
#include <unordered_map>

#include "pipeline/exports/exporter.h"
#include "trace/task_snapshot.h"

namespace tracer::pipeline::exports {

/// What one call sent or received.
struct Transfer {
  Time realtime{};        ///< since the epoch of CLOCK_REALTIME
  bool is_stream = true;  ///< TCP; else a datagram
  bool by_sender = true;  ///< the call sent it; else it received it
  trace::SocketEndpoint from;
  trace::SocketEndpoint to;
  std::string_view bytes;  ///< as far as they were captured
  std::uint64_t size = 0;  ///< how many there were
  std::string comment;     ///< who did it
};

/// Returns addresses that stand for the ends of a unix socket: 127.x.y.z, made of its inode number.
[[nodiscard]] trace::SocketEndpoint endpoint_of_unix_socket(std::uint64_t inode);

/// Makes up the headers: addresses are those of the sockets, sequence numbers count the bytes, and a connection begins
/// with a handshake. If both ends of a connection are traced, their bytes are written once.
class Pcapng {
 public:
  explicit Pcapng(Write write);

  void add(const Transfer& transfer);

 private:
  /// One direction of a connection.
  struct Flow {
    std::uint64_t sent = 0;      ///< by calls of the sender
    std::uint64_t received = 0;  ///< by calls of the receiver
    std::uint64_t written = 0;   ///< as packets
    bool greeted = false;        ///< the handshake is written
  };
  static constexpr std::size_t most_flows = 100'000;  // then they are forgotten, and streams begin anew
  static constexpr std::size_t most_payload = 65'000;

  Flow& flow(const trace::SocketEndpoint& from, const trace::SocketEndpoint& to);
  void greet(const Transfer& transfer);
  void write_segment(const Transfer& transfer, unsigned flags, std::uint64_t sequence, std::uint64_t acknowledged,
                     std::string_view bytes, std::size_t size);
  void write_datagram(const Transfer& transfer);
  void write_packet(const Transfer& transfer, std::string_view transport, std::uint8_t protocol, std::string_view bytes,
                    std::size_t size);

  Write write_;
  std::unordered_map<std::string, Flow> flows_;
};

}  // namespace tracer::pipeline::exports
