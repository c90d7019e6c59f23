#include "replay/mark.h"

#include "replay/crc32c.h"

namespace tracer::replay {
namespace {

// All numbers of a mark and of the seek table are in little endian.
constexpr std::uint32_t mark_frame = 0x184d2a54;   // one of zstd's skippable frames
constexpr std::uint32_t table_frame = 0x184d2a5e;  // the one that the seekable format uses
constexpr std::uint32_t table_magic = 0x8f92eab1;
constexpr std::uint32_t mark_magic = 0x4d637254;  // "TrcM"
constexpr std::size_t frame_header = 8;
constexpr std::size_t entry_size = 8;  // of the seek table
constexpr std::size_t checksum_at = frame_header + 4;

class Words {
 public:
  explicit Words(char* to) : to_(to) {}
  template <typename Number>
  void put(Number value) {
    for (unsigned i = 0; i < sizeof value; ++i) {
      *to_++ = static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
    }
  }

 private:
  char* to_;
};

template <typename Number>
Number take(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < sizeof(Number); ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  bytes.remove_prefix(sizeof(Number));
  return static_cast<Number>(value);
}

std::uint32_t checksum_of(std::string_view mark, std::string_view packed) {
  return crc32c(packed, crc32c(mark.substr(checksum_at + 4)));
}

}  // namespace

std::array<char, mark_size> encode(const Mark& mark, std::string_view packed) {
  std::array<char, mark_size> bytes{};
  Words words(bytes.data());
  words.put(mark_frame);
  words.put(static_cast<std::uint32_t>(mark_size - frame_header));
  words.put(mark_magic);
  words.put(std::uint32_t{0});
  words.put(mark.packed_size);
  words.put(mark.sequence);
  words.put(mark.events);
  words.put(mark.events_size);
  words.put(mark.first.count());
  words.put(mark.last.count());
  words.put(mark.calls);
  words.put(mark.lost);
  Words(bytes.data() + checksum_at).put(checksum_of({bytes.data(), bytes.size()}, packed));
  return bytes;
}

std::optional<Mark> decode_mark(std::string_view bytes) {
  if (bytes.size() < mark_size || take<std::uint32_t>(bytes) != mark_frame ||
      take<std::uint32_t>(bytes) != mark_size - frame_header || take<std::uint32_t>(bytes) != mark_magic) {
    return std::nullopt;
  }
  Mark mark;
  mark.checksum = take<std::uint32_t>(bytes);
  mark.packed_size = take<std::uint32_t>(bytes);
  mark.sequence = take<std::uint32_t>(bytes);
  mark.events = take<std::uint32_t>(bytes);
  mark.events_size = take<std::uint32_t>(bytes);
  mark.first = std::chrono::nanoseconds(take<std::int64_t>(bytes));
  mark.last = std::chrono::nanoseconds(take<std::int64_t>(bytes));
  mark.calls = take<std::uint64_t>(bytes);
  mark.lost = take<std::uint64_t>(bytes);
  return mark;
}

bool fits(const Mark& mark, std::string_view bytes, std::string_view packed) {
  return checksum_of(bytes.substr(0, mark_size), packed) == mark.checksum;
}

void append(std::string& table, const Frame& frame) {
  std::array<char, 8> bytes{};
  Words words(bytes.data());
  words.put(frame.packed_size);
  words.put(frame.size);
  table.append(bytes.data(), bytes.size());
}

std::string seek_table(std::string_view entries) {
  std::array<char, frame_header> header{};
  Words before(header.data());
  before.put(table_frame);
  std::array<char, seek_table_footer> footer{};
  before.put(static_cast<std::uint32_t>(entries.size() + footer.size()));
  Words behind(footer.data());
  behind.put(static_cast<std::uint32_t>(entries.size() / entry_size));
  behind.put(std::uint8_t{0});  // no checksums in the entries
  behind.put(table_magic);
  return std::string(header.data(), header.size()).append(entries).append(footer.data(), footer.size());
}

std::optional<std::uint64_t> seek_table_size(std::string_view footer) {
  if (footer.size() != seek_table_footer) {
    return std::nullopt;
  }
  const auto entries = take<std::uint32_t>(footer);
  const auto checksums = take<std::uint8_t>(footer);
  if (checksums != 0 || take<std::uint32_t>(footer) != table_magic) {
    return std::nullopt;
  }
  const std::uint64_t size = frame_header + std::uint64_t{entries} * entry_size + seek_table_footer;
  return size > most_seek_table ? std::nullopt : std::optional(size);
}

std::vector<Frame> seek_table_entries(std::string_view table) {
  std::vector<Frame> frames;
  if (table.size() < frame_header + seek_table_footer || !is_seek_table(table)) {
    return frames;
  }
  table.remove_prefix(frame_header);
  table.remove_suffix(seek_table_footer);
  frames.reserve(table.size() / entry_size);
  while (table.size() >= entry_size) {
    const auto packed_size = take<std::uint32_t>(table);
    frames.push_back({packed_size, take<std::uint32_t>(table)});
  }
  return frames;
}

bool is_seek_table(std::string_view bytes) {
  return bytes.size() >= frame_header && take<std::uint32_t>(bytes) == table_frame;
}

}  // namespace tracer::replay
