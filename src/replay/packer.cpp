#include "replay/packer.h"

#include <zstd.h>

#include <algorithm>

namespace tracer::replay {

namespace {

/// More than what ends a block of zstd early adds to it.
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

std::size_t Packer::pack_into(std::span<char> into, std::string_view block, std::size_t events_size) {
  ZSTD_CCtx* const zstd = context_->zstd.get();
  if (zstd == nullptr) {
    return 0;
  }
  ZSTD_CCtx_reset(zstd, ZSTD_reset_session_only);
  ZSTD_CCtx_setPledgedSrcSize(zstd, block.size());
  ZSTD_outBuffer out{into.data(), into.size(), 0};
  ZSTD_inBuffer in{block.data(), std::min(events_size, block.size()), 0};
  // The events end a block of zstd, so that a reader need not unpack facts to have them.
  if (events_size != 0 && ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush) != 0) {
    return 0;
  }
  in.size = block.size();
  return ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_end) == 0 ? out.pos : 0;
}

std::optional<PackedBlock> Packer::pack(Mark mark, std::string_view block) {
  PackedBlock packed;
  packed.size = static_cast<std::uint32_t>(block.size());
  const std::size_t most = ZSTD_compressBound(block.size());
  packed.bytes.resize(mark_size + most + flushed);
  const std::size_t size = pack_into(std::span(packed.bytes).subspan(mark_size), block, mark.events_size);
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
