// What is remembered of a call between its entry and its exit.
#pragma once

#include <vector>

#include "base/text_buffer.h"
#include "decode/budget.h"
#include "decode/decoder.h"
#include "decode/scratch.h"

namespace tracer::decode {

/// What a pointer argument pointed to at entry.
struct SavedTarget {
  spec::ParamId param = spec::none;
  RemoteAddr address;
  std::size_t offset = 0;  ///< into CallState::saved_bytes
  std::size_t size = 0;
};

/// AT_FDCWD (linux/fcntl.h)
constexpr std::int32_t current_directory = -100;

struct CallState {
  Entry entry;
  std::vector<std::uint64_t> values;  ///< of a library's function
  Depth depth;
  Budget budget;                              ///< of this call, entry and exit together
  const spec::Call* call = nullptr;           ///< null: a number beyond the table
  const spec::Call* previous_call = nullptr;  ///< of this thread
  const spec::Signature* signature = nullptr;
  std::int32_t directory = current_directory;  ///< the last that an argument named, where a path may start
  spec::Index next_param = 0;                  ///< of the signature's: the first that is not emitted yet
  bool argument_open = false;       ///< next_param's argument has begun, and with it the text stops before the exit
  bool half_emitted = false;        ///< of next_param's argument what went in shows, and what came out is to come
  bool partly_unread = false;       ///< … but not all of it, because it cannot be read
  bool half_deferred = false;       ///< … but what went in does not show, because of its `when`
  bool struct_open = false;         ///< or its structure is: the first `fields_emitted` of its fields stand, and …
  bool field_emitted_once = false;  ///< … what the next one was at entry
  spec::Index fields_emitted = 0;
  bool variable_emitted = false;  ///< the arguments that a format asks for stand
  bool unreadable = false;        ///< what the call should have filled in could not be read
  std::vector<SavedTarget> saved;
  std::vector<std::byte> saved_bytes;
  TextBuffer unknown_name;  ///< syscall_0x3e8
  TextBuffer words;         ///< where the text of one value is made
  Scratch scratch;
};

}  // namespace tracer::decode
