#include "pipeline/views/dump.h"

#include <algorithm>
#include <array>

#include "decode/call_state.h"
#include "pipeline/data_calls.h"
#include "render/line_parts.h"

namespace tracer::pipeline::views {

namespace {

/// The most bytes that are dumped of one call: the tracee chooses the lengths, and thousands of iovecs may share a
/// buffer.
constexpr std::uint64_t most_dumped = std::uint64_t{16} * 1024 * 1024;
constexpr std::uint64_t header_cost = 64;  // the cost of the line above a buffer, even if the buffer is unreadable
constexpr std::size_t row = 16;
constexpr std::uint64_t everything = ~std::uint64_t{0};  // all that a call was given to write

class Dumper {
 public:
  Dumper(TextBuffer& text, const EndedCall& call)
      : text_(text), memory_(call.memory), word_(word_size(call.state.entry.abi)) {}

  /// Dumps a buffer, or nothing if not all of it is readable.
  void buffer(RemoteAddr address, std::uint64_t length) {
    std::array<std::byte, 256 * row> chunk;
    if (length == 0 || memory_.read(address + (length - 1), std::span(chunk).first(1)) != 1) {
      return;
    }
    const auto before = text_.size();
    length = std::min(length, left_);
    for (std::uint64_t offset = 0; offset < length;) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), length - offset));
      const std::size_t got = memory_.read(address + offset, std::span(chunk).first(wanted));
      const std::string_view bytes(reinterpret_cast<const char*>(chunk.data()), got);
      render::append_dump(text_, bytes, static_cast<std::size_t>(offset));
      left_ -= got;
      if (got < wanted) {
        text_.truncate(before);
        break;
      }
      offset += got;
    }
  }

  /// Dumps up to `total` bytes of the buffers of an array of struct iovec.
  void vector(RemoteAddr array, std::uint64_t count, std::uint64_t total) {
    if (count == 0 || count > everything / (2 * word_) || !word(array + (count - 1) * 2 * word_)) {
      return;
    }
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, most_entries) && total > 0 && left_ > 0; ++i) {
      const auto base = word(array + i * 2 * word_);
      const auto size = word(array + i * 2 * word_ + word_);
      if (!base || !size || *size == 0) {
        break;
      }
      left_ -= std::min(left_, header_cost);
      const std::uint64_t length = std::min(*size, total);
      text_.append(" * ");
      text_.decimal(length);
      text_.append(" bytes in buffer ");
      text_.decimal(i);
      text_.append('\n');
      buffer(RemoteAddr(*base), length);
      total -= length;
    }
  }

  /// Dumps a struct msghdr: name, its length (padded to a word), iov, iovlen, …
  void message(RemoteAddr address, std::uint64_t total) {
    const auto array = word(address + 2 * word_);
    const auto count = word(address + 3 * word_);
    if (array && count) {
      vector(RemoteAddr(*array), *count, total);
    }
  }

  /// Dumps struct mmsghdrs: a msghdr of seven words and the bytes transferred, padded to a word.
  void messages(RemoteAddr address, std::uint64_t count) {
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, most_entries) && left_ > 0; ++i) {
      const RemoteAddr header = address + i * 8 * word_;
      const auto buffers = word(header + 3 * word_);
      const auto length = read_number(memory_, header + 7 * word_, 4);
      if (!buffers || !length) {
        break;
      }
      text_.append(" = ");
      text_.decimal(*buffers);
      text_.append(" buffers in vector ");
      text_.decimal(i);
      text_.append('\n');
      message(header, *length);
    }
  }

 private:
  static constexpr std::uint64_t most_entries = 1024;  // IOV_MAX, UIO_MAXIOV

  std::optional<std::uint64_t> word(RemoteAddr address) { return read_number(memory_, address, word_); }

  TextBuffer& text_;
  const trace::Memory& memory_;
  unsigned word_;
  std::uint64_t left_ = most_dumped;
};

}  // namespace

void dump_call(TextBuffer& text, const EndedCall& call, const filter::NumberSet& reads,
               const filter::NumberSet& writes) {
  if (call.state.call == nullptr) {
    return;
  }
  const std::string_view name = call.tables.text(call.state.call->name);
  const DataCall* found = find_data_call(name);
  if (found == nullptr) {
    return;
  }
  const auto& args = call.state.entry.args;
  const auto fd = static_cast<std::int32_t>(args[0]);
  const filter::NumberSet& wanted = found->reads ? reads : writes;
  if (fd < 0 || !wanted.contains(static_cast<std::uint32_t>(fd))) {
    return;
  }
  // A failed call has read nothing. Data to write is dumped even if the call failed; of several messages, those sent.
  if (call.outcome.is_error && found->reads) {
    return;
  }
  const bool has_length = !call.outcome.is_error && (found->reads || found->carrier == DataCall::Carrier::messages);
  const auto carried = has_length ? static_cast<std::uint64_t>(call.outcome.value) : everything;
  Dumper dumper(text, call);
  switch (found->carrier) {
    case DataCall::Carrier::buffer:
      dumper.buffer(RemoteAddr(args[1]), found->reads ? carried : args[2]);
      break;
    case DataCall::Carrier::vector:
      dumper.vector(RemoteAddr(args[1]), args[2], carried);
      break;
    case DataCall::Carrier::message:
      dumper.message(RemoteAddr(args[1]), carried);
      break;
    case DataCall::Carrier::messages:
      dumper.messages(RemoteAddr(args[1]), std::min<std::uint64_t>(carried, static_cast<std::uint32_t>(args[2])));
      break;
  }
}

}  // namespace tracer::pipeline::views
