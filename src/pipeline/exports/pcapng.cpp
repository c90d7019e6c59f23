#include "pipeline/exports/pcapng.h"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace tracer::pipeline::exports {

namespace {

constexpr unsigned syn = 2;
constexpr unsigned push = 8;
constexpr unsigned ack = 16;

/// A number of `size` bytes, the lowest first, as the blocks have them.
void append_little(std::string& text, std::uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i) {
    text.push_back(static_cast<char>(value >> (8 * i)));
  }
}

/// The same in network order.
void append_big(std::string& text, std::uint64_t value, unsigned size) {
  for (unsigned i = size; i-- > 0;) {
    text.push_back(static_cast<char>(value >> (8 * i)));
  }
}

void pad(std::string& text) {
  text.append((4 - text.size() % 4) % 4, '\0');
}

void append_option(std::string& text, unsigned code, std::string_view value) {
  append_little(text, code, 2);
  append_little(text, value.size(), 2);
  text.append(value);
  pad(text);
}

std::string block(std::uint32_t type, const std::string& body) {
  std::string whole;
  const std::size_t size = body.size() + 12;
  append_little(whole, type, 4);
  append_little(whole, size, 4);
  whole += body;
  append_little(whole, size, 4);
  return whole;
}

std::string_view address_of(const trace::SocketEndpoint& end, bool is_v6) {
  return {reinterpret_cast<const char*>(end.address.data()), is_v6 ? 16U : 4U};
}

/// The sum of RFC 1071, which goes on from another one.
std::uint32_t sum(std::string_view bytes, std::uint32_t start = 0) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    start += i % 2 == 0 ? static_cast<std::uint32_t>(byte) << 8 : byte;
    start = (start & 0xffff) + (start >> 16);
  }
  return start;
}

void put_big16(std::string& text, std::size_t at, std::uint32_t value) {
  text[at] = static_cast<char>(value >> 8);
  text[at + 1] = static_cast<char>(value);
}

}  // namespace

trace::SocketEndpoint endpoint_of_unix_socket(std::uint64_t inode) {
  trace::SocketEndpoint end;
  end.address[0] = std::byte{127};
  for (unsigned i = 0; i < 3; ++i) {
    end.address[3 - i] = static_cast<std::byte>(inode >> (8 * i));
  }
  constexpr std::uint64_t first_port = 1024;
  end.port = static_cast<std::uint16_t>(first_port + (inode >> 24) % 60'000);
  return end;
}

Pcapng::Pcapng(Write write) : write_(std::move(write)) {
  std::string section;
  append_little(section, 0x1a2b3c4d, 4);
  append_little(section, 1, 2);
  append_little(section, 0, 2);
  append_little(section, ~std::uint64_t{0}, 8);  // its length is not known
  append_option(section, 4, "tracer");           // shb_userappl
  append_option(section, 0, "");
  std::string interface;
  append_little(interface, 101, 2);  // LINKTYPE_RAW: IPv4 or IPv6
  append_little(interface, 0, 2);
  append_little(interface, 0, 4);          // packets of any size
  append_option(interface, 2, "sockets");  // if_name
  append_option(interface, 9, "\x09");     // if_tsresol: nanoseconds
  append_option(interface, 0, "");
  write_(block(0x0a0d0d0a, section) + block(1, interface));
}

Pcapng::Flow& Pcapng::flow(const trace::SocketEndpoint& from, const trace::SocketEndpoint& to) {
  if (flows_.size() >= most_flows) {
    flows_.clear();
  }
  std::string key;
  for (const trace::SocketEndpoint* end : {&from, &to}) {
    key += end->is_v6 ? '6' : '4';
    key += address_of(*end, end->is_v6);
    append_little(key, end->port, 2);
  }
  return flows_[key];
}

void Pcapng::add(const Transfer& transfer) {
  if (!transfer.is_stream) {
    write_datagram(transfer);
    return;
  }
  greet(transfer);
  Flow& there = flow(transfer.from, transfer.to);
  std::uint64_t& counted = transfer.by_sender ? there.sent : there.received;
  const std::uint64_t start = counted;  // where these bytes stand in the stream
  counted += transfer.size;
  std::uint64_t skipped = std::min(transfer.size, there.written > start ? there.written - start : 0);
  const std::uint64_t back = flow(transfer.to, transfer.from).written;
  while (skipped < transfer.size) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(transfer.size - skipped, most_payload));
    const std::string_view rest = transfer.bytes.substr(std::min<std::uint64_t>(skipped, transfer.bytes.size()));
    write_segment(transfer, push | ack, start + skipped + 1, back + 1, rest.substr(0, size), size);
    skipped += size;
  }
  Flow& written = flow(transfer.from, transfer.to);
  written.written = std::max(written.written, counted);
}

void Pcapng::greet(const Transfer& transfer) {
  if (std::exchange(flow(transfer.from, transfer.to).greeted, true)) {
    return;
  }
  flow(transfer.to, transfer.from).greeted = true;
  // The end that has the higher port is most likely the one that connected.
  Transfer client = transfer;
  Transfer server = transfer;
  std::swap(server.from, server.to);
  if (transfer.from.port < transfer.to.port) {
    std::swap(client, server);
  }
  write_segment(client, syn, 0, 0, {}, 0);
  write_segment(server, syn | ack, 0, 1, {}, 0);
  write_segment(client, ack, 1, 1, {}, 0);
}

void Pcapng::write_segment(const Transfer& transfer, unsigned flags, std::uint64_t sequence, std::uint64_t acknowledged,
                           std::string_view bytes, std::size_t size) {
  std::string header;
  append_big(header, transfer.from.port, 2);
  append_big(header, transfer.to.port, 2);
  append_big(header, sequence, 4);
  append_big(header, acknowledged, 4);
  append_big(header, 5U << 12 | flags, 2);  // five words
  append_big(header, 0xffff, 2);            // window
  append_big(header, 0, 4);                 // checksum, urgent pointer
  write_packet(transfer, header, IPPROTO_TCP, bytes, size);
}

void Pcapng::write_datagram(const Transfer& transfer) {
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(transfer.size, most_payload));
  std::string header;
  append_big(header, transfer.from.port, 2);
  append_big(header, transfer.to.port, 2);
  append_big(header, size + 8, 2);
  append_big(header, 0, 2);
  write_packet(transfer, header, IPPROTO_UDP, transfer.bytes.substr(0, size), size);
}

void Pcapng::write_packet(const Transfer& transfer, std::string_view transport, std::uint8_t protocol,
                          std::string_view bytes, std::size_t size) {
  const bool is_v6 = transfer.from.is_v6 || transfer.to.is_v6;
  const std::size_t whole = transport.size() + size;
  std::string ip;
  if (is_v6) {
    append_big(ip, std::uint64_t{6} << 28, 4);
    append_big(ip, whole, 2);
    append_big(ip, protocol, 1);
    append_big(ip, 64, 1);  // hop limit
  } else {
    append_big(ip, 0x4500, 2);
    append_big(ip, whole + 20, 2);
    append_big(ip, 0, 4);   // not fragmented
    append_big(ip, 64, 1);  // time to live
    append_big(ip, protocol, 1);
    append_big(ip, 0, 2);
  }
  std::string addresses(address_of(transfer.from, is_v6));
  addresses += address_of(transfer.to, is_v6);
  ip += addresses;
  if (!is_v6) {
    put_big16(ip, 10, ~sum(ip) & 0xffff);
  }
  std::string packet = ip + std::string(transport) + std::string(bytes);
  if (bytes.size() == size) {  // else the rest of the sum is not known
    std::string pseudo = addresses;
    append_big(pseudo, whole, 4);
    append_big(pseudo, protocol, 4);
    std::uint32_t checksum = ~sum(std::string_view(packet).substr(ip.size()), sum(pseudo)) & 0xffff;
    checksum = checksum == 0 && protocol == IPPROTO_UDP ? 0xffff : checksum;
    put_big16(packet, ip.size() + (protocol == IPPROTO_TCP ? 16 : 6), checksum);
  }
  const auto time = static_cast<std::uint64_t>(transfer.realtime.count());
  std::string body;
  append_little(body, 0, 4);
  append_little(body, time >> 32, 4);
  append_little(body, time, 4);
  append_little(body, packet.size(), 4);
  append_little(body, ip.size() + whole, 4);
  body += packet;
  pad(body);
  append_option(body, 1, transfer.comment);  // opt_comment
  append_option(body, 0, "");
  write_(block(6, body));
}

}  // namespace tracer::pipeline::exports
