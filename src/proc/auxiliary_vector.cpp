#include "proc/auxiliary_vector.h"

#include <cstring>

#include "base/read_file.h"
#include "proc/proc_text.h"

namespace tracer::proc {

std::uint64_t auxiliary_value(pid_t pid, unsigned type, unsigned word_size) {
  const std::string bytes = read_file(proc_path(pid, "auxv"));
  for (std::size_t at = 0; at + std::size_t{2} * word_size <= bytes.size(); at += std::size_t{2} * word_size) {
    std::uint64_t key = 0;
    std::uint64_t value = 0;
    std::memcpy(&key, bytes.data() + at, word_size);
    std::memcpy(&value, bytes.data() + at + word_size, word_size);
    if (key == type) {
      return value;
    }
  }
  return 0;
}

}  // namespace tracer::proc
