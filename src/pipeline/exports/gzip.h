// Compresses into a gzip member (RFC 1952) and writes that in base64 (RFC 4648), as a browser can unpack by itself.
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

#include "pipeline/exports/exporter.h"

namespace tracer::pipeline::exports {

class GzipBase64 {
 public:
  /// `write` outlives this.
  explicit GzipBase64(const Write& write);
  ~GzipBase64();
  GzipBase64(const GzipBase64&) = delete;
  GzipBase64& operator=(const GzipBase64&) = delete;

  void write(std::string_view bytes) { compress(bytes, Z_NO_FLUSH); }
  /// Called last.
  void finish();

 private:
  void compress(std::string_view bytes, int flush);
  void encode(std::string_view bytes);
  void append_digits(std::string_view three);

  const Write& write_;
  z_stream stream_{};
  std::string pending_;  ///< compressed bytes that are not encoded yet: fewer than three
  std::string text_;
};

}  // namespace tracer::pipeline::exports
