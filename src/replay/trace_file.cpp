#include "replay/trace_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

namespace tracer::replay {

class TraceFile::Unpacker {
 public:
  void leave_facts_out(std::vector<std::uint64_t> calls_with_facts) { calls_with_facts_ = std::move(calls_with_facts); }
  /// Unpacks the block of a mark.
  [[nodiscard]] bool unpack(const Mark& mark, std::string_view packed, std::string& into);

 private:
  [[nodiscard]] bool needs_facts(const Mark& mark) const {
    return !calls_with_facts_ || std::any_of(calls_with_facts_->begin(), calls_with_facts_->end(),
                                             [&](std::uint64_t bits) { return may_have(mark, bits); });
  }
  [[nodiscard]] bool unpack_start(std::string_view packed, std::string& into);

  std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> zstd_{ZSTD_createDCtx(), &ZSTD_freeDCtx};
  std::optional<std::vector<std::uint64_t>> calls_with_facts_;  ///< nothing: all have them
};

bool TraceFile::Unpacker::unpack(const Mark& mark, std::string_view packed, std::string& into) {
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (zstd_ == nullptr || size > most_block_size) {  // the values that say `unknown` are larger
    return false;
  }
  if (mark.events_size != 0 && mark.events_size < size && !needs_facts(mark)) {
    into.resize(mark.events_size);
    return unpack_start(packed, into);
  }
  into.resize(static_cast<std::size_t>(size));
  const std::size_t got = ZSTD_decompressDCtx(zstd_.get(), into.data(), into.size(), packed.data(), packed.size());
  return ZSTD_isError(got) == 0 && got == into.size();
}

bool TraceFile::Unpacker::unpack_start(std::string_view packed, std::string& into) {
  ZSTD_DCtx_reset(zstd_.get(), ZSTD_reset_session_only);
  ZSTD_inBuffer from{packed.data(), packed.size(), 0};
  ZSTD_outBuffer out{into.data(), into.size(), 0};
  const auto go_on = [&](std::size_t from_size, std::size_t out_size) {
    from.size = from_size;
    out.size = out_size;
    for (std::size_t before = ~out.pos; out.pos != out.size && before != from.pos + out.pos;) {
      before = from.pos + out.pos;
      if (ZSTD_isError(ZSTD_decompressStream(zstd_.get(), &out, &from)) != 0) {
        return false;
      }
    }
    return out.pos == out.size;
  };
  // All but the last byte at first: zstd unpacks the next of its blocks where it has room behind one.
  return go_on(packed.size(), into.size() - 1) && (go_on(from.pos, into.size()) || go_on(packed.size(), into.size()));
}

void TraceFile::leave_facts_out(std::vector<std::uint64_t> calls_with_facts) {
  unpacker_->leave_facts_out(std::move(calls_with_facts));
}

TraceFile::TraceFile(UniqueFd file, std::string name)
    : file_(std::move(file)), name_(std::move(name)), unpacker_(std::make_unique<Unpacker>()) {
  struct stat status;
  can_seek_ = ::fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode);
  size_ = can_seek_ ? static_cast<std::uint64_t>(status.st_size) : 0;
}

TraceFile::~TraceFile() = default;

Result<std::unique_ptr<TraceFile>> TraceFile::open(const std::string& path) {
  const bool is_input = path == "-";
  UniqueFd fd(is_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const std::string name = is_input ? "standard input" : path;
  if (!fd.valid()) {
    return Error{errno, name + ": " + std::strerror(errno)};
  }
  std::unique_ptr<TraceFile> file(new TraceFile(std::move(fd), name));
  if (!file->read_mark() || file->mark_.sequence != 0) {
    return Error{0, name + ": it is no trace that --record wrote"};
  }
  if (!file->read_block()) {
    return Error{0, name + ": its head is damaged"};
  }
  auto head = decode_head(file->block_);
  if (!head) {
    return Error{0, name + ": " + head.error().message};
  }
  file->head_ = std::move(head).value();
  return file;
}

bool TraceFile::await_input() {
  if (can_seek_ || interrupt_ < 0) {
    return true;
  }
  pollfd sources[] = {{file_.get(), POLLIN, 0}, {interrupt_, POLLIN, 0}};
  while (::poll(sources, std::size(sources), -1) < 0 && errno == EINTR) {
  }
  if (sources[1].revents != 0) {
    end_ = End::interrupted;
    return false;
  }
  return true;
}

bool TraceFile::read(std::string& into, std::size_t size) {
  into.resize(size);
  std::size_t done = 0;
  while (done < size && await_input()) {
    const ssize_t got = ::read(file_.get(), into.data() + done, size - done);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    done += static_cast<std::size_t>(got);
  }
  into.resize(done);
  position_ += done;
  return done == size;
}

bool TraceFile::read_mark() {
  if (!read(mark_bytes_, mark_size)) {
    end(mark_bytes_.empty() ? End::abrupt : is_seek_table(mark_bytes_) ? End::regular : End::truncated);
    return false;
  }
  const auto mark = decode_mark(mark_bytes_);
  constexpr std::uint32_t most_packed = most_block_size + (1U << 20U);
  // The first blocks of what a flight recorder wrote are gone.
  if (!mark || mark->packed_size > most_packed || (sequence_ > 1 && mark->sequence != sequence_)) {
    end_ = is_seek_table(mark_bytes_) ? End::regular : End::damaged;
    return false;
  }
  mark_ = *mark;
  sequence_ = mark->sequence + 1;
  return true;
}

bool TraceFile::read_block() {
  if (!read(packed_, mark_.packed_size)) {
    end(End::truncated);
    return false;
  }
  if (!fits(mark_, mark_bytes_, packed_) || !unpacker_->unpack(mark_, packed_, block_)) {
    end_ = End::damaged;
    return false;
  }
  return true;
}

bool TraceFile::skip_block() {
  if (!can_seek_) {
    return read_block();
  }
  if (::lseek(file_.get(), static_cast<off_t>(mark_.packed_size), SEEK_CUR) < 0) {
    end_ = End::damaged;
    return false;
  }
  position_ += mark_.packed_size;
  return true;
}

std::string_view TraceFile::next(const std::function<bool(const Mark&)>& wanted) {
  while (end_ == End::none && read_mark()) {
    const bool is_wanted = wanted(mark_);
    if (is_wanted ? !read_block() : !skip_block()) {
      break;
    }
    events_ += mark_.events;
    good_ = position_;
    if (is_wanted) {
      return block_;
    }
  }
  return {};
}

bool TraceFile::seek(std::uint64_t position) {
  if (::lseek(file_.get(), static_cast<off_t>(position), SEEK_SET) < 0) {
    return false;
  }
  position_ = position;
  end_ = End::none;
  return true;
}

std::vector<Frame> TraceFile::read_seek_table() {
  struct stat status;
  if (::fstat(file_.get(), &status) != 0) {
    return {};
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  std::string bytes;
  if (size < seek_table_footer || !seek(size - seek_table_footer) || !read(bytes, seek_table_footer)) {
    return {};
  }
  const auto table = seek_table_size(bytes);
  if (!table || *table > size || !seek(size - *table) || !read(bytes, static_cast<std::size_t>(*table))) {
    return {};
  }
  auto frames = seek_table_entries(bytes);
  std::uint64_t sum = *table;
  for (const Frame& frame : frames) {
    sum += frame.packed_size;
  }
  return sum == size ? frames : std::vector<Frame>{};
}

std::vector<BlockPlace> TraceFile::places() {
  std::vector<BlockPlace> places;
  std::uint64_t at = 0;
  bool after_mark = false;
  for (const Frame& frame : read_seek_table()) {
    if (frame.size != 0 && after_mark) {
      places.push_back({at - mark_size, frame.packed_size});
    }
    after_mark = frame.size == 0 && frame.packed_size == mark_size;
    at += frame.packed_size;
  }
  has_seek_table_ = !places.empty();
  if (has_seek_table_) {
    places.erase(places.begin());  // the head
    return places;
  }
  good_ = 0;
  find_more(places);
  return places;
}

void TraceFile::find_more(std::vector<BlockPlace>& places) {
  struct stat status;
  if (has_seek_table_ || ::fstat(file_.get(), &status) != 0 || !seek(good_)) {
    return;
  }
  sequence_ = 0;
  size_ = static_cast<std::uint64_t>(status.st_size);
  while (end_ == End::none && read_mark()) {
    const BlockPlace place{position_ - mark_size, mark_.packed_size};
    // The recorder may be writing it.
    if (place.mark_at + mark_size + place.packed_size > size_ || !skip_block()) {
      break;
    }
    if (mark_.sequence != 0) {
      places.push_back(place);
    }
    good_ = position_;
  }
  has_seek_table_ = end_ == End::regular && !read_seek_table().empty();
}

std::string_view TraceFile::at(const BlockPlace& place) {
  sequence_ = 0;
  if (!seek(place.mark_at) || !read_mark() || mark_.packed_size != place.packed_size || !read_block()) {
    return {};
  }
  return block_;
}

std::string TraceFile::missing() const {
  switch (end_) {
    case End::none:
    case End::regular:
    case End::interrupted:
      return {};
    case End::abrupt:
      return fmt::format("the recording ends without its end, after {} events: up to a second of it may be missing",
                         events_);
    case End::truncated:
      return fmt::format("the file is cut off after {} events: what follows byte {} is left out", events_, good_);
    case End::damaged:
      return fmt::format("the file is damaged after {} events: what follows byte {} is left out", events_, good_);
  }
  return {};
}

}  // namespace tracer::replay
