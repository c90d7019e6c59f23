#include "debuginfo/mini_debug.h"

#include <lzma.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace tracer::debuginfo {

namespace {

constexpr std::size_t max_decompressed = 64 << 20;        // of the decompressed file, in bytes
constexpr std::uint64_t max_decoder_memory = 128U << 20;  // bytes

std::vector<char> decompress(const Elf_Data& data) {
  lzma_stream stream = LZMA_STREAM_INIT;
  if (::lzma_stream_decoder(&stream, max_decoder_memory, 0) != LZMA_OK) {
    return {};
  }
  stream.next_in = static_cast<const std::uint8_t*>(data.d_buf);
  stream.avail_in = data.d_size;
  std::vector<char> file;
  lzma_ret result = LZMA_OK;
  while (result == LZMA_OK && file.size() < max_decompressed) {
    constexpr std::size_t piece = 256 << 10;
    const std::size_t done = file.size();
    file.resize(done + piece);
    stream.next_out = reinterpret_cast<std::uint8_t*>(file.data() + done);
    stream.avail_out = piece;
    result = ::lzma_code(&stream, LZMA_FINISH);
    file.resize(file.size() - stream.avail_out);
  }
  ::lzma_end(&stream);
  return result == LZMA_STREAM_END ? file : std::vector<char>{};
}

/// Returns null if there is no section of that kind, or it is too large.
Elf_Scn* compressed_section(Elf* elf) {
  std::size_t names = 0;
  if (::elf_getshdrstrndx(elf, &names) != 0) {
    return nullptr;
  }
  Elf_Scn* section = nullptr;
  while ((section = ::elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    const char* name = ::gelf_getshdr(section, &header) != nullptr ? ::elf_strptr(elf, names, header.sh_name) : nullptr;
    if (name != nullptr && std::string_view(name) == ".gnu_debugdata" && header.sh_type == SHT_PROGBITS &&
        header.sh_size <= max_decompressed) {
      return section;
    }
  }
  return nullptr;
}

/// The question: nothing. The answer: the decompressed file.
void decompress_file(OpenedFile& file, Input&, Output& answer) {
  if (const ElfHandle elf = map_elf(file.files.object.get())) {
    answer.values(mini_debug_file(elf.get()));
  }
}

}  // namespace

std::vector<char> mini_debug_file(Elf* elf) {
  Elf_Scn* const section = compressed_section(elf);
  const Elf_Data* data = section != nullptr ? ::elf_rawdata(section, nullptr) : nullptr;
  return data != nullptr && data->d_buf != nullptr ? decompress(*data) : std::vector<char>{};
}

std::vector<char> read_mini_debug_file(Elf* elf, UniqueFd file, const std::string& name, Reader& reader) {
  if (compressed_section(elf) == nullptr) {
    return {};
  }
  ReadFile object({name, std::move(file), {}, {}});
  auto answer = reader.ask(object, decompress_file, {});
  return answer ? answer->values<char>() : std::vector<char>{};
}

}  // namespace tracer::debuginfo
