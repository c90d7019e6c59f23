#include "pipeline/exports/gzip.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <new>

namespace tracer::pipeline::exports {

namespace {

constexpr int gzip_window = 15 + 16;  // zlib.h: 16 adds the header of gzip
constexpr int memory_level = 8;
constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

GzipBase64::GzipBase64(const Write& write) : write_(write) {
  if (::deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, memory_level, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::bad_alloc();
  }
}

GzipBase64::~GzipBase64() {
  ::deflateEnd(&stream_);
}

void GzipBase64::compress(std::string_view bytes, int flush) {
  constexpr std::size_t most = std::numeric_limits<uInt>::max();
  std::array<char, 32768> out;
  do {
    const std::string_view part = bytes.substr(0, most);
    bytes.remove_prefix(part.size());
    // zlib does not change its input, though its type says so.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    stream_.avail_in = static_cast<uInt>(part.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out.data());
      stream_.avail_out = out.size();
      static_cast<void>(::deflate(&stream_, bytes.empty() ? flush : Z_NO_FLUSH));
      encode({out.data(), out.size() - stream_.avail_out});
    } while (stream_.avail_out == 0);
  } while (!bytes.empty());
}

void GzipBase64::append_digits(std::string_view three) {
  const auto byte = [three](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(three[i])); };
  const std::uint32_t bits = byte(0) << 16 | byte(1) << 8 | byte(2);
  for (int shift = 18; shift >= 0; shift -= 6) {
    text_.push_back(digits[bits >> shift & 63]);
  }
}

void GzipBase64::encode(std::string_view bytes) {
  text_.clear();
  while (!pending_.empty() && !bytes.empty()) {
    pending_.push_back(bytes.front());
    bytes.remove_prefix(1);
    if (pending_.size() == 3) {
      append_digits(pending_);
      pending_.clear();
    }
  }
  for (; bytes.size() >= 3; bytes.remove_prefix(3)) {
    append_digits(bytes.substr(0, 3));
  }
  pending_.append(bytes);
  write_(text_);
}

void GzipBase64::finish() {
  compress({}, Z_FINISH);
  if (const std::size_t rest = pending_.size(); rest != 0) {
    text_.clear();
    pending_.resize(3, '\0');
    append_digits(pending_);
    text_.replace(rest + 1, 3 - rest, 3 - rest, '=');
    write_(text_);
    pending_.clear();
  }
}

}  // namespace tracer::pipeline::exports
