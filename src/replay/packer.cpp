#include "replay/packer.h"

#include <zstd.h>

#include <algorithm>

namespace tracer::replay {

namespace {

/// More than what ends blocks of zstd early adds to them.
constexpr std::size_t flushed = 64;

}  // namespace

struct Packer::Context {
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> zstd{ZSTD_createCCtx(), &ZSTD_freeCCtx};
};

Packer::Packer() : context_(std::make_unique<Context>()) {
  if (ZSTD_CCtx* zstd = context_->zstd.get(); zstd != nullptr) {
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);  // no checksum: the mark has one
  }
}

Packer::~Packer() = default;

std::size_t Packer::pack_into(std::span<char> into, std::string_view block, const Mark& mark) {
  ZSTD_CCtx* const zstd = context_->zstd.get();
  if (zstd == nullptr) {
    return 0;
  }
  ZSTD_CCtx_reset(zstd, ZSTD_reset_session_only);
  ZSTD_CCtx_setPledgedSrcSize(zstd, block.size());
  // The events end a block of zstd, so that a reader need not unpack facts to have them. Their last column, a byte of
  // each, does not pack, and would be in the way of what does.
  const std::size_t events = std::min<std::size_t>(mark.events_size, block.size());
  const std::size_t last_column = events - std::min<std::size_t>(mark.events, events);
  ZSTD_outBuffer out{into.data(), into.size(), 0};
  ZSTD_inBuffer in{block.data(), 0, 0};
  for (const std::size_t end : {last_column, events}) {
    in.size = end;
    if (in.pos != end && ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush) != 0) {
      return 0;
    }
  }
  in.size = block.size();
  return ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_end) == 0 ? out.pos : 0;
}

std::optional<PackedBlock> Packer::pack(Mark mark, std::string_view block) {
  PackedBlock packed;
  packed.size = static_cast<std::uint32_t>(block.size());
  const std::size_t most = ZSTD_compressBound(block.size());
  packed.bytes.resize(mark_size + most + flushed);
  const std::size_t size = pack_into(std::span(packed.bytes).subspan(mark_size), block, mark);
  if (size == 0) {
    return std::nullopt;
  }
  packed.bytes.resize(mark_size + size);
  mark.packed_size = static_cast<std::uint32_t>(packed.bytes.size() - mark_size);
  const auto bytes = encode(mark, std::string_view(packed.bytes).substr(mark_size));
  packed.bytes.replace(0, bytes.size(), bytes.data(), bytes.size());
  return packed;
}

}  // namespace tracer::replay
