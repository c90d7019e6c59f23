#include "replay/packer.h"

#include <zstd.h>

namespace tracer::replay {

struct Packer::Context {
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> zstd{ZSTD_createCCtx(), &ZSTD_freeCCtx};
};

Packer::Packer() : context_(std::make_unique<Context>()) {
  if (ZSTD_CCtx* zstd = context_->zstd.get(); zstd != nullptr) {
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
  }
}

Packer::~Packer() = default;

PackedBlock Packer::pack(Mark mark, std::string_view block) {
  PackedBlock packed;
  packed.size = static_cast<std::uint32_t>(block.size());
  const std::size_t most = ZSTD_compressBound(block.size());
  packed.bytes.resize(mark_size + most);
  const std::size_t size =
      context_->zstd == nullptr
          ? 0
          : ZSTD_compress2(context_->zstd.get(), packed.bytes.data() + mark_size, most, block.data(), block.size());
  packed.bytes.resize(mark_size + (ZSTD_isError(size) != 0 ? 0 : size));
  mark.packed_size = static_cast<std::uint32_t>(packed.bytes.size() - mark_size);
  const auto bytes = encode(mark, std::string_view(packed.bytes).substr(mark_size));
  packed.bytes.replace(0, bytes.size(), bytes.data(), bytes.size());
  return packed;
}

}  // namespace tracer::replay
