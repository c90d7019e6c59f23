#include "capture/carry_out.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace tracer::capture {
namespace {

constexpr std::uint64_t page_size = 4096;
constexpr std::size_t first_piece = 64;

class Run {
 public:
  Run(std::span<const capture_operation> operations, Slots& values, const trace::Memory& memory, Recorder& recorder)
      : operations_(operations), values_(values), memory_(memory), recorder_(recorder) {}

  void run() {
    for (unsigned steps = 0; steps < most_steps; ++steps) {
      if (depth_ != 0 && at_ >= loops_[depth_ - 1].end) {
        turn(loops_[depth_ - 1]);
      } else if (at_ >= operations_.size()) {
        return;
      } else {
        step(operations_[at_++]);
      }
    }
  }

 private:
  struct Loop {
    std::uint64_t next;  ///< address of the next element
    std::size_t first;   ///< operation
    std::size_t end;
    std::uint64_t left;  ///< elements, the present one included
    std::uint32_t element;
    std::uint8_t to;
    std::uint8_t width;
  };

  void turn(Loop& loop) {
    if (--loop.left == 0 || recorder_.full()) {
      --depth_;
    } else {
      next_element(loop);
    }
  }

  void next_element(Loop& loop) {
    const std::uint64_t element = loop.next;
    loop.next += loop.element;
    at_ = loop.first;
    values_[loop.to % slots] = loop.width == 0 ? element : number(element, loop.width).value_or(0);
  }

  void begin_loop(const capture_operation& op, std::uint64_t base, std::uint64_t count) {
    const std::size_t first = at_;
    at_ += op.body;
    std::uint64_t elements = op.most;
    if (op.length != slot_none) {
      const std::uint64_t counted = op.element == 0 ? 0 : (count * op.scale + op.more) / op.element;
      elements = std::min<std::uint64_t>(counted, op.most);
    }
    if (base == 0 || elements == 0 || depth_ >= most_loops) {
      return;
    }
    loops_[depth_] = {base + op.offset, first, at_, elements, op.element, op.to, op.width};
    next_element(loops_[depth_++]);
  }

  void step(const capture_operation& op) {
    const std::uint64_t base = values_[op.base % slots];
    const std::uint64_t count = op.length == slot_none ? 1 : cut(values_[op.length % slots], op.count_width);
    const std::uint64_t address = base + op.offset;
    switch (op.kind) {
      case capture_each:
        begin_loop(op, base, count);
        return;
      case capture_load:
        values_[op.to % slots] = base == 0 ? 0 : number(address, op.width).value_or(0);
        return;
      case capture_netlink:
        recorder_.netlink(static_cast<std::uint32_t>(base));
        return;
      case capture_file_kind:
        recorder_.file_kind(static_cast<std::uint32_t>(base));
        return;
      case capture_named:
        recorder_.named(static_cast<named_kind>(op.to), static_cast<std::uint32_t>(base),
                        static_cast<std::uint32_t>(count));
        return;
      default:
        if (base != 0) {
          at_address(op, address, count);
        }
    }
  }

  void at_address(const capture_operation& op, std::uint64_t address, std::uint64_t count) {
    switch (op.kind) {
      case capture_block: {
        const std::uint64_t wanted = count * op.scale + op.more;
        const bool counted = op.length != slot_none && count <= op.most && wanted < op.most;
        block(address, counted ? wanted : op.most);
        break;
      }
      case capture_text:
        text(address, op.most);
        break;
      case capture_texts:
        texts(address, op);
        break;
      case capture_there_named:
        if (const auto found = number(address, sizeof(std::uint32_t))) {
          recorder_.named(static_cast<named_kind>(op.to), static_cast<std::uint32_t>(*found), 0);
        }
        break;
      case capture_fd_set:
        descriptors_of_set(address, static_cast<std::uint32_t>(std::min<std::uint64_t>(count, most_descriptors)));
        break;
      case capture_passed:
        passed(address, count, op.width);
        break;
      default:
        break;
    }
  }

  static std::uint64_t cut(std::uint64_t count, unsigned width) {
    return width >= sizeof count ? count : count & ((std::uint64_t{1} << (8 * width)) - 1);
  }

  [[nodiscard]] std::optional<std::uint64_t> number(std::uint64_t address, unsigned width) const {
    std::uint64_t value = 0;
    const std::size_t size = std::min<std::size_t>(width, sizeof value);
    const bool there =
        memory_.read(RemoteAddr(address), std::as_writable_bytes(std::span(&value, 1)).first(size)) == size;
    return there ? std::optional(value) : std::nullopt;
  }

  void block(std::uint64_t address, std::uint64_t size) {
    size = std::min<std::uint64_t>(size, largest_block);
    for (std::uint64_t done = 0; done < size; done += largest_piece) {
      const auto piece = std::span(buffer_).first(std::min<std::uint64_t>(size - done, largest_piece));
      report(address + done, piece.first(memory_.read(RemoteAddr(address + done), piece)));
    }
  }

  void text(std::uint64_t address, std::uint32_t most) {
    const auto room = std::span(buffer_).first(std::min<std::size_t>(most, buffer_.size()));
    std::size_t size = 0;
    for (std::size_t piece = first_piece; size < room.size(); piece *= 2) {  // most texts are short
      // Up to the end of the page alone: the text may end before the next one, which may not be there.
      const std::size_t on_page = page_size - (address + size) % page_size;
      const auto part = room.subspan(size, std::min({on_page, room.size() - size, piece}));
      const std::size_t got = memory_.read(RemoteAddr(address + size), part);
      const auto end = std::find(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(got), std::byte{0});
      size += static_cast<std::size_t>(end - part.begin());
      if (end != part.begin() + static_cast<std::ptrdiff_t>(got)) {
        report(address, room.first(size + 1));
        return;
      }
      if (got != part.size()) {
        return;  // a text without an end, of which nothing is copied
      }
    }
    report(address, room.first(room.size() - (room.empty() ? 0 : 1)));
  }

  void texts(std::uint64_t address, const capture_operation& op) {
    for (unsigned i = 0; i < most_elements; ++i) {
      const std::uint64_t pointer = number(address + std::uint64_t{i} * op.width, op.width).value_or(0);
      if (pointer == 0) {
        return;
      }
      text(pointer, op.most);
    }
  }

  void report(std::uint64_t address, std::span<const std::byte> bytes) {
    if (!bytes.empty()) {
      recorder_.memory(address, bytes);
    }
  }

  void descriptors_of_set(std::uint64_t address, std::uint32_t count) {
    std::uint64_t word = 0;
    for (std::uint32_t fd = 0; fd < count; ++fd) {
      if (fd % 32 == 0) {  // a set ends with a word of a machine whose words have four bytes
        const auto found = number(address + fd / 8, sizeof(std::uint32_t));
        if (!found) {
          return;
        }
        word = *found;
      }
      if ((word >> (fd % 32) & 1) != 0) {
        recorder_.named(named_descriptor, fd, 0);
      }
    }
  }

  /// A list of struct cmsghdr, whose words have `word` bytes.
  void passed(std::uint64_t address, std::uint64_t size, std::uint32_t word) {
    constexpr std::uint64_t rights = 0x100000001;  // SOL_SOCKET and, above it, SCM_RIGHTS
    constexpr std::uint64_t credentials = 0x200000001;
    constexpr std::uint64_t pidfd = 0x400000001;
    const std::uint64_t front = word + 8;
    for (unsigned names = 0; names < most_names && size >= front; ++names) {
      const auto length = number(address, word);
      const auto what = number(address + word, sizeof(std::uint64_t));
      if (!length || !what || *length < front || *length > size) {
        return;
      }
      const bool descriptors = *what == rights || *what == pidfd;
      for (std::uint64_t at = front; descriptors && at + 4 <= *length && names < most_names; at += 4, ++names) {
        name_at(named_descriptor, address + at);
      }
      if (*what == credentials && *length >= front + 4) {
        name_at(named_process, address + front);
      }
      const std::uint64_t aligned = (*length + word - 1) / word * word;
      address += aligned;
      size -= std::min(size, aligned);
    }
  }

  void name_at(named_kind kind, std::uint64_t address) {
    if (const auto found = number(address, sizeof(std::uint32_t))) {
      recorder_.named(kind, static_cast<std::uint32_t>(*found), 0);
    }
  }

  static constexpr std::uint32_t most_descriptors = 65536;

  std::span<const capture_operation> operations_;
  Slots& values_;
  const trace::Memory& memory_;
  Recorder& recorder_;
  std::array<Loop, most_loops> loops_;  // the first `depth_` are set; to clear them takes longer than most plans
  std::size_t depth_ = 0;
  std::size_t at_ = 0;  ///< operation that is next
  std::array<std::byte, largest_text> buffer_;
};

}  // namespace

void carry_out(std::span<const capture_operation> operations, Slots& values, const trace::Memory& memory,
               Recorder& recorder) {
  Run(operations, values, memory, recorder).run();
}

}  // namespace tracer::capture
