#include "pipeline/data_calls.h"

#include <algorithm>
#include <array>

namespace tracer::pipeline {

namespace {

using Carrier = DataCall::Carrier;

// Those that strace dumps (-e read=, -e write=).
constexpr std::array<DataCall, 24> data_calls = {{
    {"read", Carrier::buffer, true},
    {"pread64", Carrier::buffer, true},
    {"recv", Carrier::buffer, true},
    {"recvfrom", Carrier::buffer, true},
    {"write", Carrier::buffer, false},
    {"pwrite64", Carrier::buffer, false},
    {"send", Carrier::buffer, false},
    {"sendto", Carrier::buffer, false},
    {"mq_timedreceive", Carrier::buffer, true},
    {"mq_timedreceive_time64", Carrier::buffer, true},
    {"mq_timedsend", Carrier::buffer, false},
    {"mq_timedsend_time64", Carrier::buffer, false},
    {"readv", Carrier::vector, true},
    {"preadv", Carrier::vector, true},
    {"preadv2", Carrier::vector, true},
    {"writev", Carrier::vector, false},
    {"pwritev", Carrier::vector, false},
    {"pwritev2", Carrier::vector, false},
    {"vmsplice", Carrier::vector, false},
    {"recvmsg", Carrier::message, true},
    {"sendmsg", Carrier::message, false},
    {"recvmmsg", Carrier::messages, true},
    {"recvmmsg_time64", Carrier::messages, true},
    {"sendmmsg", Carrier::messages, false},
}};

}  // namespace

const DataCall* find_data_call(std::string_view name) {
  const auto found =
      std::find_if(data_calls.begin(), data_calls.end(), [name](const DataCall& call) { return call.name == name; });
  return found == data_calls.end() ? nullptr : &*found;
}

std::optional<std::uint64_t> read_number(const trace::Memory& memory, RemoteAddr address, unsigned size) {
  std::array<std::byte, 8> raw{};
  if (memory.read(address, std::span(raw).first(size)) != size) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  for (unsigned i = size; i-- > 0;) {
    value = value << 8 | std::to_integer<std::uint64_t>(raw[i]);
  }
  return value;
}

}  // namespace tracer::pipeline
