#include "bpf/entry_chunks.h"

namespace tracer::bpf {

void EntryChunks::keep(pid_t tid, std::uint64_t stack_pointer, std::uint32_t place, Bytes chunks) {
  constexpr std::size_t most_threads = 4096;
  constexpr std::size_t deepest = 1024;
  constexpr std::uint64_t same_stack = std::uint64_t{1} << 20;
  constexpr std::size_t most_bytes = std::size_t{64} << 20;
  if (threads_.size() > most_threads || bytes_ > most_bytes) {
    threads_.clear();
    bytes_ = 0;
  }
  Thread& thread = threads_[tid];
  const auto is_over = [&](const Call& call) {
    const bool is_this = call.stack_pointer == stack_pointer && call.place == place;
    return is_this || (call.stack_pointer < stack_pointer && stack_pointer - call.stack_pointer < same_stack);
  };
  while (thread.depth != 0 && is_over(thread.calls[thread.depth - 1])) {
    --thread.depth;
  }
  if (thread.depth == deepest) {
    return;
  }
  if (thread.depth == thread.calls.size()) {
    thread.calls.emplace_back();
    bytes_ += sizeof(Call);
  }
  Call& call = thread.calls[thread.depth++];
  call.stack_pointer = stack_pointer;
  call.place = place;
  bytes_ -= call.chunks.capacity();
  call.chunks.assign(chunks.begin(), chunks.end());
  bytes_ += call.chunks.capacity();
}

EntryChunks::Bytes EntryChunks::take(pid_t tid, std::uint64_t stack_pointer, std::uint32_t place) {
  const auto known = threads_.find(tid);
  if (known == threads_.end()) {
    return {};
  }
  Thread& thread = known->second;
  for (std::size_t i = thread.depth; i-- != 0;) {
    const Call& call = thread.calls[i];
    if (call.stack_pointer == stack_pointer && call.place == place) {
      thread.depth = i;
      return call.chunks;
    }
  }
  return {};
}

}  // namespace tracer::bpf
