// Unwinds with libunwind through accessors that read only the memory of a stopped thread, and with a bounded number of
// reads.
#include <libunwind.h>

#include <array>
#include <cstring>
#include <utility>

#include "base/shared_library.h"
#include "stack/cycle_detector.h"
#include "stack/unwinder.h"

// libunwind exports this function for callers that find unwind tables themselves, such as libunwind-ptrace, but
// declares it in no public header.
extern "C" int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t*, unw_proc_info_t*, int,
                                                  void*);

namespace tracer::stack {

namespace {

/// The functions of libunwind that the tracer uses. The header maps their names to different ones for each processor.
struct Library {
  decltype(&::unw_create_addr_space) create = nullptr;
  decltype(&::unw_destroy_addr_space) destroy = nullptr;
  decltype(&::unw_set_caching_policy) set_caching = nullptr;
  decltype(&::unw_flush_cache) flush = nullptr;
  decltype(&::unw_init_remote) init = nullptr;
  decltype(&::unw_get_reg) get_register = nullptr;
  decltype(&::unw_is_signal_frame) is_signal_frame = nullptr;
  decltype(&::unw_step) step = nullptr;
  decltype(&::UNW_OBJ(dwarf_search_unwind_table)) search_table = nullptr;

  void find_in(SharedLibrary& library) {
#define NAME_OF(name) TEXT_OF(name)
#define TEXT_OF(name) #name
    library.find(create, NAME_OF(unw_create_addr_space));
    library.find(destroy, NAME_OF(unw_destroy_addr_space));
    library.find(set_caching, NAME_OF(unw_set_caching_policy));
    library.find(flush, NAME_OF(unw_flush_cache));
    library.find(init, NAME_OF(unw_init_remote));
    library.find(get_register, NAME_OF(unw_get_reg));
    library.find(is_signal_frame, NAME_OF(unw_is_signal_frame));
    library.find(step, NAME_OF(unw_step));
    library.find(search_table, NAME_OF(UNW_OBJ(dwarf_search_unwind_table)));
#undef TEXT_OF
#undef NAME_OF
  }
};

/// The argument of the accessors during one walk.
struct Context {
  const Library& library;
  const Walk& walk;
  const arch::FrameRegisters& registers;
  std::size_t reads_left = 0;  ///< bounds expressions in the unwind tables, which may loop forever
};

constexpr std::size_t max_reads_per_frame = 4096;

int access_memory(unw_addr_space_t, unw_word_t address, unw_word_t* value, int write, void* argument) {
  auto& context = *static_cast<Context*>(argument);
  std::uint64_t word = 0;
  if (write != 0 || context.reads_left == 0 || !read_word(context.walk.memory, address, sizeof word, word)) {
    return -UNW_EINVAL;
  }
  --context.reads_left;
  *value = word;
  return 0;
}

int access_register(unw_addr_space_t, unw_regnum_t number, unw_word_t* value, int write, void* argument) {
  const arch::FrameRegisters& registers = static_cast<Context*>(argument)->registers;
  // On 64-bit machines libunwind uses DWARF register numbers.
  if (write != 0 || number < 0) {
    return -UNW_EREADONLYREG;
  }
  if (number == UNW_REG_IP) {
    *value = registers.instruction_pointer;
    return 0;
  }
  if (!registers.has(static_cast<std::uint64_t>(number))) {
    return -UNW_EBADREG;
  }
  *value = registers.values[static_cast<std::size_t>(number)];
  return 0;
}

int find_procedure(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t* info, int need_info, void* argument) {
  auto& context = *static_cast<Context*>(argument);
  Mapping* const mapping = context.walk.space.find(ip);
  ElfObject* const object =
      mapping == nullptr ? nullptr
                         : AddressSpace::object(*mapping, context.walk.tid, context.walk.memory, context.walk.objects);
  const auto address = object == nullptr ? std::nullopt : object->address_of(mapping->offset_of(ip));
  const auto header = address ? object->frame_header() : std::nullopt;
  if (!header) {
    return -UNW_ENOINFO;
  }
  // .eh_frame_hdr (Linux Standard Base, 10.6.2): the version, the encodings of pointer, count and table, the pointer,
  // the count. Every linker writes these encodings: a sorted table of pairs of 32-bit offsets.
  const std::uint64_t header_address = *header + (ip - *address);
  std::array<std::uint8_t, 12> start{};
  constexpr std::array<std::uint8_t, 4> expected = {1, 0x1b, 0x03, 0x3b};
  if (context.walk.memory.read(RemoteAddr(header_address), std::as_writable_bytes(std::span(start))) != start.size() ||
      std::memcmp(start.data(), expected.data(), expected.size()) != 0) {
    return -UNW_ENOINFO;
  }
  std::uint32_t count = 0;
  std::memcpy(&count, start.data() + 8, sizeof count);
  unw_dyn_info_t table{};
  table.start_ip = mapping->start;
  table.end_ip = mapping->end;
  table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
  table.u.rti.segbase = header_address;
  table.u.rti.table_len = count;  // in words of 8 bytes, the size of a pair
  table.u.rti.table_data = header_address + start.size();
  return context.library.search_table(space, ip, &table, info, need_info, argument);
}

unw_accessors_t accessors() {
  unw_accessors_t all{};
  all.find_proc_info = find_procedure;
  all.put_unwind_info = [](unw_addr_space_t, unw_proc_info_t*, void*) {};
  all.get_dyn_info_list_addr = [](unw_addr_space_t, unw_word_t*, void*) { return -UNW_ENOINFO; };
  all.access_mem = access_memory;
  all.access_reg = access_register;
  all.access_fpreg = [](unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*) { return -UNW_EBADREG; };
  all.resume = [](unw_addr_space_t, unw_cursor_t*, void*) { return -UNW_EINVAL; };
  all.get_proc_name = [](unw_addr_space_t, unw_word_t, char*, std::size_t, unw_word_t*, void*) { return -UNW_ENOINFO; };
  return all;
}

class LibunwindUnwinder final : public Unwinder {
 public:
  LibunwindUnwinder(const Library& library, std::unique_ptr<Unwinder> fallback)
      : library_(library), fallback_(std::move(fallback)) {
    library_.set_caching(space_, UNW_CACHE_GLOBAL);
  }
  ~LibunwindUnwinder() override { library_.destroy(space_); }

  WalkEnd walk(const Walk& walk, const InnermostFrame& start, std::size_t limit,
               std::vector<FrameAddress>& frames) override {
    if (start.registers.word_size != sizeof(unw_word_t)) {
      return fallback_->walk(walk, start, limit, frames);
    }
    // libunwind's cache is keyed by address only, so it must not outlive a change of the mappings or of the process.
    if (walk.space.generation() != generation_) {
      library_.flush(space_, 0, 0);
      generation_ = walk.space.generation();
    }
    // libunwind does not subtract 1 from the instruction pointer of the innermost frame.
    arch::FrameRegisters registers = start.registers;
    registers.instruction_pointer -= start.exact ? 0 : 1;
    Context context{library_, walk, registers};
    unw_cursor_t cursor;
    if (library_.init(&cursor, space_, &context) != 0) {
      return WalkEnd::outermost;
    }
    CycleDetector cycle;
    for (bool exact = start.exact, first = true;; first = false) {
      unw_word_t ip = 0;
      unw_word_t sp = 0;
      if (library_.get_register(&cursor, UNW_REG_IP, &ip) != 0 ||
          library_.get_register(&cursor, UNW_REG_SP, &sp) != 0 || ip == 0) {
        return WalkEnd::outermost;
      }
      ip += first && !exact ? 1 : 0;
      if (frames.size() == limit) {
        return WalkEnd::limit;
      }
      frames.push_back({ip, exact});
      if (walk.space.find(exact ? ip : ip - 1) == nullptr) {
        return WalkEnd::outermost;
      }
      exact = library_.is_signal_frame(&cursor) > 0;
      context.reads_left = max_reads_per_frame;
      if (library_.step(&cursor) <= 0) {
        return WalkEnd::outermost;
      }
      if (cycle.seen(ip, sp)) {
        return WalkEnd::cycle;
      }
    }
  }

 private:
  Library library_;
  unw_accessors_t accessors_ = accessors();
  unw_addr_space_t space_ = library_.create(&accessors_, 0);
  std::unique_ptr<Unwinder> fallback_;  ///< for threads of another word size
  std::uint64_t generation_ = 0;
};

}  // namespace

Result<std::unique_ptr<Unwinder>> make_libunwind_unwinder() {
  SharedLibrary loaded(LIBUNWIND_LIBRARY, "libunwind8");
  Library library;
  library.find_in(loaded);
  if (const Status& status = loaded.status(); !status) {
    return status.error();
  }
  return std::unique_ptr<Unwinder>(std::make_unique<LibunwindUnwinder>(library, make_libdw_unwinder()));
}

}  // namespace tracer::stack
