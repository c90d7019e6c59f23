#include "inprocess/functions.h"

#include <elf.h>

#include "proc/memory_map.h"

namespace tracer::inprocess {
namespace {

// Encodings of pointers: DW_EH_PE_* of the Linux Standard Base.
constexpr std::uint8_t relative_to_place = 0x1b;  // DW_EH_PE_pcrel | DW_EH_PE_sdata4
constexpr std::uint8_t four_bytes = 0x03;         // DW_EH_PE_udata4
constexpr std::uint8_t relative_to_table = 0x3b;  // DW_EH_PE_datarel | DW_EH_PE_sdata4

struct TableHeader {
  std::uint8_t version;
  std::uint8_t frames_encoding;
  std::uint8_t count_encoding;
  std::uint8_t table_encoding;
  std::int32_t frames;
  std::uint32_t count;
};

struct TableEntry {
  std::int32_t function;  ///< from the header on
  std::int32_t frame;
};

struct FrameFront {
  std::uint32_t length;
  std::uint32_t parent;
  std::int32_t function;  ///< from this field on
  std::uint32_t size;
};

template <typename T>
std::optional<T> get(const trace::Memory& memory, std::uint64_t address) {
  T value{};
  const auto into = std::as_writable_bytes(std::span(&value, 1));
  return memory.read(RemoteAddr(address), into) == into.size() ? std::optional(value) : std::nullopt;
}

/// Where the file that has code at `address` begins in memory; empty if that is not plain code of a file.
std::optional<std::uint64_t> find_file_start(std::string_view map, std::uint64_t address) {
  std::optional<proc::MappedRange> code;
  proc::for_each_range(map, [&](const proc::MappedRange& range) {
    if (range.contains(address) && range.inode != 0 && range.protection == "r-xp") {
      code = range;
    }
  });
  if (!code) {
    return std::nullopt;
  }
  std::optional<std::uint64_t> start;
  proc::for_each_range(map, [&](const proc::MappedRange& range) {
    if (range.inode == code->inode && range.device == code->device && range.file_offset == 0 &&
        range.start <= code->start) {
      start = range.start;  // the last one before the code, if the file is mapped more than once
    }
  });
  return start;
}

std::optional<std::uint64_t> find_table(const trace::Memory& memory, std::uint64_t file) {
  const auto header = get<Elf64_Ehdr>(memory, file);
  constexpr unsigned most_segments = 64;
  if (!header || std::string_view(reinterpret_cast<const char*>(header->e_ident), SELFMAG) != ELFMAG ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phentsize != sizeof(Elf64_Phdr) ||
      header->e_phnum > most_segments) {
    return std::nullopt;
  }
  std::optional<std::uint64_t> bias;
  std::optional<std::uint64_t> table;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto segment = get<Elf64_Phdr>(memory, file + header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) {
      return std::nullopt;
    }
    if (segment->p_type == PT_LOAD && segment->p_offset == 0) {
      bias = file - segment->p_vaddr;
    } else if (segment->p_type == PT_GNU_EH_FRAME) {
      table = segment->p_vaddr;
    }
  }
  return bias && table ? std::optional(*bias + *table) : std::nullopt;
}

}  // namespace

std::optional<FunctionBounds> find_function(std::string_view map, const trace::Memory& memory, std::uint64_t address) {
  const auto file = find_file_start(map, address);
  const auto table = file ? find_table(memory, *file) : std::nullopt;
  const auto header = table ? get<TableHeader>(memory, *table) : std::nullopt;
  if (!header || header->version != 1 || header->frames_encoding != relative_to_place ||
      header->count_encoding != four_bytes || header->table_encoding != relative_to_table || header->count == 0) {
    return std::nullopt;
  }
  const auto entry_at = [&](std::uint32_t index) {
    return get<TableEntry>(memory, *table + sizeof(TableHeader) + std::uint64_t{index} * sizeof(TableEntry));
  };
  const auto moved = [](std::uint64_t from, std::int32_t by) {
    return from + static_cast<std::uint64_t>(std::int64_t{by});
  };
  std::uint32_t low = 0;
  for (std::uint32_t high = header->count; high - low > 1;) {
    const std::uint32_t middle = low + (high - low) / 2;
    const auto entry = entry_at(middle);
    if (!entry) {
      return std::nullopt;
    }
    (moved(*table, entry->function) <= address ? low : high) = middle;
  }
  const auto entry = entry_at(low);
  if (!entry) {
    return std::nullopt;
  }
  const std::uint64_t place = moved(*table, entry->frame);
  const auto frame = get<FrameFront>(memory, place);
  const std::uint64_t start = moved(*table, entry->function);
  if (!frame || moved(place + offsetof(FrameFront, function), frame->function) != start || address < start ||
      address - start >= frame->size) {
    return std::nullopt;
  }
  return FunctionBounds{start, frame->size};
}

}  // namespace tracer::inprocess
