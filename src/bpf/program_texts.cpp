#include "bpf/program_texts.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "arch/syscall_abi.h"
#include "base/abi.h"
#include "bpf/captured_memory.h"
#include "bpf/record_front.h"
#include "bpf/tracing.h"
#include "capture/chunks.h"

namespace tracer::bpf {
namespace {

using Bytes = std::span<const std::byte>;

/// One that no captured array is as long as.
constexpr std::size_t most_arguments_of_program = 4096;

std::vector<Bytes> texts_in(Bytes area) {
  std::vector<Bytes> texts;
  while (!area.empty()) {
    const auto nul = std::find(area.begin(), area.end(), std::byte{0});
    const auto size = std::min(static_cast<std::size_t>(nul - area.begin()) + 1, area.size());
    texts.push_back(area.first(size));
    area = area.subspan(size);
  }
  return texts;
}

/// What an array of pointers points to; nothing if its end cannot be read.
std::vector<std::uint64_t> pointers_at(const trace::Memory& memory, std::uint64_t address, unsigned size) {
  std::vector<std::uint64_t> pointers;
  while (pointers.size() < most_arguments_of_program) {
    std::uint64_t pointer = 0;
    const auto into = std::as_writable_bytes(std::span(&pointer, 1)).first(size);
    if (memory.read(RemoteAddr(address + pointers.size() * size), into) != size) {
      break;
    }
    if (pointer == 0) {
      return pointers;
    }
    pointers.push_back(pointer);
  }
  return {};
}

/// Of a call by a descriptor, the kernel makes another path.
bool is_made_up(Bytes path) {
  constexpr std::string_view made_up = "/dev/fd/";
  return path.size() >= made_up.size() && std::memcmp(path.data(), made_up.data(), made_up.size()) == 0;
}

}  // namespace

std::vector<std::byte> texts_of_program(Bytes entry, Bytes exec) {
  const auto front = front_of<enter_front>(entry);
  const Bytes behind = entry.subspan(std::min(sizeof front, entry.size()));
  std::array<std::uint64_t, most_arguments> args{};
  const std::size_t count = std::min({std::size_t{front.head.arguments}, args.size(), behind.size() / sizeof args[0]});
  std::memcpy(args.data(), behind.data(), count * sizeof args[0]);
  const CapturedMemory memory(behind.subspan(count * sizeof args[0]));
  const Abi abi = front.head.abi < abi_count ? static_cast<Abi>(front.head.abi) : arch::native_abi();
  const std::size_t path = arch::is_execveat(abi, front.head.number) ? 1 : 0;

  std::vector<std::byte> chunks;
  const auto add = [&chunks](std::uint64_t address, Bytes bytes) {
    capture::append_chunk<trace_chunk>(chunks, chunk_memory, address, bytes);
  };
  const auto take = [&](const trace_chunk& chunk, Bytes bytes) {
    if (chunk.kind == chunk_program && !is_made_up(bytes)) {
      add(args[path], bytes);
    } else if (chunk.kind == chunk_arguments) {
      const bool of_interpreter = chunk.address != 0;
      const std::vector<Bytes> texts = texts_in(bytes);
      const std::vector<std::uint64_t> pointers = pointers_at(memory, args[path + 1], word_size(abi));
      if (of_interpreter ? texts.size() <= pointers.size() : texts.size() != pointers.size()) {
        return;
      }
      // An interpreter's own arguments and the path stand for the first one.
      for (std::size_t i = of_interpreter ? 1 : 0; i < pointers.size(); ++i) {
        add(pointers[i], texts[texts.size() - pointers.size() + i]);
      }
    }
  };
  capture::for_each_chunk<trace_chunk>(exec.subspan(std::min(sizeof(lifecycle_record), exec.size())), take);
  return chunks;
}

}  // namespace tracer::bpf
