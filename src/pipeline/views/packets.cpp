#include "pipeline/views/packets.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "decode/call_state.h"

namespace tracer::pipeline::views {

namespace {

/// The most bytes of one call that are kept: the tracee chooses the lengths.
constexpr std::uint64_t most_of_packet = std::uint64_t{1} << 20;

/// The most that the kernel transfers in one call (MAX_RW_COUNT). Sizes in the tracee's memory, and injected results,
/// may say more.
constexpr std::uint64_t most_transferred = 0x7ffff000;

using Arguments = std::array<std::uint64_t, 6>;

// What libssl carries before it is encrypted, or after it was decrypted.
constexpr std::array<DataCall, 4> plaintext_calls = {{{"SSL_read", DataCall::Carrier::buffer, true},
                                                      {"SSL_read_ex", DataCall::Carrier::buffer, true},
                                                      {"SSL_write", DataCall::Carrier::buffer, false},
                                                      {"SSL_write_ex", DataCall::Carrier::buffer, false}}};

const DataCall* data_call_of(const Thread& thread, std::string_view name) {
  if (thread.call.function == nullptr) {
    return find_data_call(name);
  }
  const auto* found = std::find_if(plaintext_calls.begin(), plaintext_calls.end(),
                                   [name](const DataCall& call) { return call.name == name; });
  return found == plaintext_calls.end() ? nullptr : found;
}

Arguments arguments_of(const Thread& thread) {
  if (thread.call.function == nullptr) {
    return decode::Decoder::arguments_of(*thread.state);
  }
  Arguments arguments{};
  const auto& values = thread.state->values;
  std::copy_n(values.begin(), std::min(values.size(), arguments.size()), arguments.begin());
  return arguments;
}

/// Reads the buffers of a call, up to the first byte that is not there.
class Reader {
 public:
  Reader(const trace::Memory& memory, Abi abi, std::string& bytes)
      : memory_(memory), word_(word_size(abi)), bytes_(bytes) {}

  void read(const DataCall& call, const std::array<std::uint64_t, 6>& args, std::uint64_t total) {
    left_ = std::min(total, most_of_packet);
    switch (call.carrier) {
      case DataCall::Carrier::buffer:
        buffer(RemoteAddr(args[1]), std::min(left_, args[2]));
        break;
      case DataCall::Carrier::vector:
        vector(RemoteAddr(args[1]), args[2]);
        break;
      case DataCall::Carrier::message:
        message(RemoteAddr(args[1]));
        break;
      case DataCall::Carrier::messages:
        break;  // messages() reads them one by one
    }
  }
  /// Reads a struct msghdr: name, its length (padded to a word), iov, iovlen, …
  void message(RemoteAddr address, std::uint64_t total) {
    left_ = std::min(total, most_of_packet);
    message(address);
  }
  [[nodiscard]] std::optional<std::uint64_t> word(RemoteAddr address) const {
    return read_number(memory_, address, word_);
  }
  [[nodiscard]] unsigned word_bytes() const { return word_; }

 private:
  static constexpr std::uint64_t most_entries = 1024;  // IOV_MAX

  void buffer(RemoteAddr address, std::uint64_t length) {
    const std::size_t before = bytes_.size();
    bytes_.resize(before + static_cast<std::size_t>(length));
    const std::size_t got = memory_.read(address, std::as_writable_bytes(std::span(bytes_).subspan(before)));
    bytes_.resize(before + got);
    left_ = got < length ? 0 : left_ - length;
  }
  void vector(RemoteAddr array, std::uint64_t count) {
    for (std::uint64_t i = 0; i < std::min(count, most_entries) && left_ > 0; ++i) {
      const auto base = word(array + i * 2 * word_);
      const auto size = word(array + i * 2 * word_ + word_);
      if (!base || !size) {
        break;
      }
      buffer(RemoteAddr(*base), std::min(*size, left_));
    }
  }
  void message(RemoteAddr address) {
    const auto array = word(address + 2 * word_);
    const auto count = word(address + 3 * word_);
    if (array && count) {
      vector(RemoteAddr(*array), *count);
    }
  }

  const trace::Memory& memory_;
  unsigned word_;
  std::string& bytes_;
  std::uint64_t left_ = 0;
};

}  // namespace

PacketsView::PacketsView(const decode::Decoder& decoder, names::ProcessNames& names, Channels channels)
    : decoder_(decoder),
      names_(names),
      files_([] {
        names::NameOptions wanted;
        wanted.sockets = true;
        return wanted;
      }()),
      channels_(std::move(channels)),
      packets_([this](std::string_view text) { channels_.write_common(text); }) {}

std::optional<PacketsView::Ends> PacketsView::ends_of(const names::Task& task, std::int32_t fd) {
  const auto file = task.snapshot != nullptr ? task.snapshot->descriptor(fd) : files_.file(task.tid, fd);
  if (!file || !file->socket) {
    return std::nullopt;
  }
  const trace::SocketFacts& socket = *file->socket;
  Ends ends;
  if (socket.protocol.starts_with("UNIX")) {
    ends.is_stream = socket.protocol.find("DGRAM") == std::string::npos;
    ends.here = exports::endpoint_of_unix_socket(socket.inode);
    // What was sent can still be received when the other end is closed, and the kernel no longer names it.
    if (socket.peer != 0 && peers_.size() < most_peers) {
      peers_[socket.inode] = socket.peer;
    }
    const auto known = peers_.find(socket.inode);
    ends.there = exports::endpoint_of_unix_socket(known == peers_.end() ? socket.peer : known->second);
    return ends;
  }
  ends.is_stream = socket.protocol.starts_with("TCP");
  if ((!ends.is_stream && !socket.protocol.starts_with("UDP")) || !socket.local) {
    return std::nullopt;
  }
  ends.here = *socket.local;
  ends.there = socket.remote.value_or(trace::SocketEndpoint{{}, socket.local->is_v6, 0});
  return ends;
}

/// A connection of libssl has no descriptor that its calls name: the address of its SSL stands for the client, and for
/// the server the port of HTTP, so that readers look for that.
PacketsView::Ends PacketsView::ends_of_tls(pid_t process, std::uint64_t connection) {
  constexpr std::uint16_t http = 80;
  Ends ends;
  ends.here = exports::endpoint_of_unix_socket(connection / 16 + static_cast<std::uint64_t>(process));
  ends.there = exports::endpoint_of_unix_socket(0);
  ends.there.port = http;
  return ends;
}

// What is sent is read before the call, when engines that stop nobody have it.

void PacketsView::call_begins(Thread& thread, const trace::Memory& memory) {
  if (thread.call.function != nullptr) {
    thread.call.entry.function_name = thread.call.function->name;
  }
  decoder_.enter(*thread.state, thread.call.entry, thread.call.depth, memory, nothing_);
  thread.line.clear();
  const DataCall* call = data_call_of(thread, decoder_.name_of(*thread.state));
  if (call != nullptr && !call->reads && call->carrier != DataCall::Carrier::messages) {
    payload_.clear();
    Reader(memory, thread.call.entry.abi, payload_).read(*call, arguments_of(thread), ~std::uint64_t{0});
    thread.line.append(payload_);
  }
}

void PacketsView::call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) {
  decoder_.exit(*thread.state, end.outcome, memory, nothing_);
  thread.entry_stack.clear();
  const DataCall* call = data_call_of(thread, decoder_.name_of(*thread.state));
  const names::Task task{thread.tid, memory.snapshot()};
  if (call == nullptr || !end.outcome.known || end.outcome.is_error || end.outcome.value <= 0) {
    return;
  }
  const Arguments args = arguments_of(thread);
  auto result = static_cast<std::uint64_t>(end.outcome.value);
  Reader reader(memory, thread.call.entry.abi, payload_);
  if (thread.call.function != nullptr) {
    result = call->name.ends_with("_ex") ? reader.word(RemoteAddr(args[3])).value_or(0)
                                         : static_cast<std::uint64_t>(std::max(static_cast<std::int32_t>(result), 0));
    result = std::min(result, args[2]);  // num
    if (result == 0) {
      return;
    }
  }
  result = std::min(result, most_transferred);
  const auto fd = static_cast<std::int32_t>(args[0]);
  const auto add = [&](const Ends& ends, std::uint64_t size) {
    exports::Transfer transfer;
    transfer.realtime = end.time.realtime;
    transfer.is_stream = ends.is_stream;
    transfer.by_sender = !call->reads;
    transfer.from = call->reads ? ends.there : ends.here;
    transfer.to = call->reads ? ends.here : ends.there;
    transfer.bytes = std::string_view(payload_).substr(0, static_cast<std::size_t>(size));
    transfer.size = size;
    transfer.comment = fmt::format("{} {} {}", thread.command, thread.tid, decoder_.name_of(*thread.state));
    packets_.add(transfer);
  };
  const auto ends =
      thread.call.function != nullptr ? std::optional(ends_of_tls(thread.tgid, args[0])) : ends_of(task, fd);
  if (!ends) {
    return;
  }
  if (thread.command.empty()) {
    thread.command = names_.command(task);
  }
  if (call->carrier == DataCall::Carrier::messages) {
    // struct mmsghdr: a msghdr of seven words, and the bytes transferred, padded to a word.
    std::uint64_t left = most_transferred;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(result, 1024) && left > 0; ++i) {
      const RemoteAddr header = RemoteAddr(args[1]) + i * 8 * reader.word_bytes();
      const auto size = read_number(memory, header + 7 * reader.word_bytes(), 4);
      if (!size) {
        break;
      }
      const std::uint64_t transferred = std::min(*size, left);
      left -= transferred;
      payload_.clear();
      reader.message(header, transferred);
      add(*ends, transferred);
    }
    return;
  }
  payload_.clear();
  if (call->reads) {
    reader.read(*call, args, result);
  } else {
    payload_ = thread.line.view();
  }
  add(*ends, result);
}

void PacketsView::flush() {
  channels_.flush([](Thread&) {});
}

}  // namespace tracer::pipeline::views
