#include "arch/register_names.h"

#include "base/number_text.h"

namespace tracer::arch {

std::optional<std::uint64_t> named_register(const Registers& registers, std::string_view name) {
  if (name == "sp") {
    return registers.stack_pointer();
  }
  if (name == "xzr" || name == "wzr") {
    return 0;
  }
  const auto number = name.size() >= 2 ? whole_number<unsigned>(name.substr(1)) : std::nullopt;
  const FrameRegisters frame = registers.frame_registers();
  if (!number || *number > 30 || *number >= frame.count || (name.front() != 'x' && name.front() != 'w')) {
    return std::nullopt;
  }
  const std::uint64_t value = frame.values[*number];
  return name.front() == 'w' ? static_cast<std::uint32_t>(value) : value;
}

std::optional<std::uint8_t> register_word(std::string_view name) {
  constexpr std::uint8_t stack_pointer_word = 31;
  if (name == "sp") {
    return stack_pointer_word;
  }
  const auto number = name.size() >= 2 ? whole_number<unsigned>(name.substr(1)) : std::nullopt;
  const bool is_general = number && *number < stack_pointer_word && (name.front() == 'x' || name.front() == 'w');
  return is_general ? std::optional(static_cast<std::uint8_t>(*number)) : std::nullopt;
}

std::optional<unsigned> vector_register(std::string_view name) {
  constexpr std::string_view kinds = "vdsq";
  const bool is_vector = name.size() >= 2 && kinds.find(name.front()) != std::string_view::npos;
  const auto number = is_vector ? whole_number<unsigned>(name.substr(1)) : std::nullopt;
  return number && *number < 32 ? number : std::nullopt;
}

std::optional<std::uint64_t> segment_base(const Registers&, std::string_view, const ReadRegisterSet&) {
  return std::nullopt;
}

}  // namespace tracer::arch
