#include "arch/passed_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "arch/argument_passing.h"
#include "format/floating.h"
#include "spec/spec.h"

namespace tracer::arch {
namespace {

using spec::ValueClass;

std::uint64_t low_bits(const trace::CallContext::Value& value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, value.data(), sizeof bits);
  return bits;
}

std::uint64_t long_double(const trace::CallContext::Value& value, Abi abi) {
  return format::double_of_long_double(std::span(value).first(spec::long_double_size(abi)), abi);
}

/// The number of integer and vector registers for arguments: System V ABI, AMD64 supplement, 3.2.3; AAPCS64, 6.8.2.
unsigned integer_registers(Abi abi) {
  return abi == Abi::aarch64 ? 8 : abi == Abi::x86_64 || abi == Abi::x32 ? 6 : 0;
}
unsigned vector_registers(Abi abi) {
  return abi == Abi::aarch64 || abi == Abi::x86_64 || abi == Abi::x32 ? 8 : 0;
}

}  // namespace

std::uint64_t ArgumentReader::from_stack(std::size_t size, std::size_t alignment) {
  stack_ = (stack_ + alignment - 1) / alignment * alignment;
  trace::CallContext::Value bytes{};
  static_cast<void>(memory_.read(RemoteAddr(stack_), std::span(bytes).first(size)));
  const std::size_t step = register_size(abi_);
  stack_ += (size + step - 1) / step * step;
  return size > sizeof(std::uint64_t) ? long_double(bytes, abi_) : low_bits(bytes);
}

std::uint64_t ArgumentReader::next_floating(ValueClass value) {
  if (vectors_ < vector_registers(abi_)) {
    const auto bytes = enter_.context->vector(vectors_++);
    if (!bytes) {
      return 0;
    }
    return value == ValueClass::extended ? long_double(*bytes, abi_) : low_bits(*bytes);
  }
  const std::size_t size = value == ValueClass::extended ? spec::long_double_size(abi_)
                           : value == ValueClass::single ? sizeof(float)
                                                         : sizeof(double);
  return from_stack(size, std::min<std::size_t>(size == 12 ? 4 : size, register_size(abi_) == 4 ? 4 : 16));
}

std::uint64_t ArgumentReader::next(ValueClass value) {
  const bool narrow = register_size(abi_) == 4;
  switch (value) {
    case ValueClass::nothing:
    case ValueClass::structure:
      return 0;
    case ValueClass::single:
    case ValueClass::floating:
      return next_floating(value);
    case ValueClass::extended:
      if (abi_ == Abi::aarch64) {
        return next_floating(value);
      }
      return from_stack(spec::long_double_size(abi_), narrow ? 4 : 16);
    case ValueClass::integer:
    case ValueClass::integer64:
      if (integers_ < integer_registers(abi_)) {
        return enter_.integers[integers_++];
      }
      return from_stack(narrow && value == ValueClass::integer ? 4 : 8, narrow ? 4 : 8);
  }
  return 0;
}

void ArgumentReader::next(const spec::PassedValue& value, std::vector<std::uint64_t>& words) {
  if (value.value_class != ValueClass::structure) {
    words.push_back(next(value.value_class));
    return;
  }
  const std::size_t first = words.size();
  words.resize(first + value.words());
  next_structure(value, std::as_writable_bytes(std::span(words).subspan(first)).first(value.size));
}

void ArgumentReader::skip_hidden_pointer(const spec::PassedValue& result) {
  if (result.value_class == ValueClass::structure && passing_of_result(abi_, result).hidden_pointer) {
    static_cast<void>(next(ValueClass::integer));
  }
}

void ArgumentReader::structure_from_stack(const spec::PassedValue& value, std::span<std::byte> into) {
  const std::uint64_t word = register_size(abi_);
  const std::uint64_t alignment = word == 4 ? word : std::max<std::uint64_t>(word, value.alignment);
  stack_ = (stack_ + alignment - 1) / alignment * alignment;
  static_cast<void>(memory_.read(RemoteAddr(stack_), into));
  stack_ += (value.size + word - 1) / word * word;
}

void ArgumentReader::next_structure(const spec::PassedValue& value, std::span<std::byte> into) {
  const Passing passing = passing_of_argument(abi_, value);
  if (passing.how == Passing::How::by_address) {
    static_cast<void>(memory_.read(RemoteAddr(next(ValueClass::integer)), into));
    return;
  }
  integers_ += passing.starts_even ? integers_ % 2 : 0;
  const unsigned vectors = passing.count(true);
  const unsigned integers = passing.count(false);
  if (passing.how == Passing::How::in_memory || vectors_ + vectors > vector_registers(abi_) ||
      integers_ + integers > integer_registers(abi_)) {
    if (passing.uses_up_registers) {
      vectors_ = vectors != 0 ? vector_registers(abi_) : vectors_;
      integers_ = integers != 0 ? integer_registers(abi_) : integers_;
    }
    structure_from_stack(value, into);
    return;
  }
  for (const Passing::Piece& piece : passing.pieces) {
    trace::CallContext::Value bytes{};
    if (piece.is_vector) {
      bytes = enter_.context->vector(vectors_++).value_or(trace::CallContext::Value{});
    } else {
      std::memcpy(bytes.data(), &enter_.integers[integers_++], sizeof(std::uint64_t));
    }
    std::copy_n(bytes.begin(), piece.size, into.begin() + piece.offset);
  }
}

bool result_structure(Abi abi, const spec::PassedValue& value, const trace::LibraryExit& exit,
                      std::uint64_t result_address, const trace::Memory& memory, std::vector<std::uint64_t>& words) {
  words.assign(value.words(), 0);
  const auto into = std::as_writable_bytes(std::span(words)).first(value.size);
  const Passing passing = passing_of_result(abi, value);
  if (passing.how == Passing::How::in_memory) {
    const std::uint64_t address = passing.hidden_pointer ? exit.integers[0] : result_address;
    return memory.read(RemoteAddr(register_size(abi) == 4 ? static_cast<std::uint32_t>(address) : address), into) ==
           into.size();
  }
  unsigned integers = 0;
  unsigned vectors = 0;
  unsigned x87 = 0;
  for (const Passing::Piece& piece : passing.pieces) {
    std::optional<trace::CallContext::Value> bytes(trace::CallContext::Value{});
    if (passing.how == Passing::How::in_x87) {
      bytes = exit.context == nullptr ? std::nullopt : exit.context->x87(x87++);
    } else if (piece.is_vector) {
      bytes = exit.context == nullptr ? std::nullopt : exit.context->vector(vectors++);
    } else {
      std::memcpy(bytes->data(), &exit.integers[integers++], sizeof(std::uint64_t));
    }
    if (!bytes) {
      return false;
    }
    std::copy_n(bytes->begin(), piece.size, into.begin() + piece.offset);
  }
  return true;
}

std::uint64_t result_value(Abi abi, ValueClass value, const trace::LibraryExit& exit) {
  const bool by_x87 = abi == Abi::i386 || ((abi == Abi::x86_64 || abi == Abi::x32) && value == ValueClass::extended);
  switch (value) {
    case ValueClass::nothing:
      return 0;
    case ValueClass::integer:
      return exit.integers[0];
    case ValueClass::integer64:
      return register_size(abi) == 4 ? (exit.integers[1] << 32) | static_cast<std::uint32_t>(exit.integers[0])
                                     : exit.integers[0];
    default:
      break;
  }
  const auto bytes = exit.context == nullptr ? std::nullopt : by_x87 ? exit.context->x87(0) : exit.context->vector(0);
  if (!bytes) {
    return 0;
  }
  if (!by_x87) {
    return value == ValueClass::extended ? long_double(*bytes, abi) : low_bits(*bytes);
  }
  const std::uint64_t bits = long_double(*bytes, abi);
  return value == ValueClass::single ? std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)))
                                     : bits;
}

}  // namespace tracer::arch
