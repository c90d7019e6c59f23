#include "bpf/captured_memory.h"

#include "bpf/tracing.h"
#include "capture/chunks.h"

namespace tracer::bpf {

std::size_t CapturedMemory::read(RemoteAddr address, std::span<std::byte> into) const {
  return capture::read_chunks<trace_chunk>(areas_, chunk_memory, address, into);
}

}  // namespace tracer::bpf
