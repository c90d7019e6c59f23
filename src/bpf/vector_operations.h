// Operations of a capture plan that copy what pointers in the elements of an array lead to. Private to this folder.
#pragma once

#include <cstdint>
#include <optional>

#include "bpf/naming_operations.h"

namespace tracer {

class VectorOperations : public NamingOperations {
 public:
  using NamingOperations::NamingOperations;

 protected:
  /// Adds those of pointers whose length another field of the same element has. The array's `count` elements of `size`
  /// bytes begin at `offset` behind the address in slot `base`; `element` may be a struct within them, which begins at
  /// `shift`.
  void vectors(const spec::Struct& element, std::uint8_t base, std::uint32_t offset, const Length& count,
               std::uint32_t size, std::uint32_t shift = 0, unsigned depth = 0);

 private:
  /// What one pointer in elements of `size` bytes leads to; nothing if it is none, or if no field has the length.
  std::optional<capture_operation> vector(const spec::Field& field, std::uint8_t base, std::uint32_t offset,
                                          std::uint32_t size, std::uint32_t shift);
  /// If a pointer in an element leads to an array of structs again: what their pointers lead to.
  std::optional<capture_operation> vector_within(const spec::Type& pointer, std::uint8_t base);
};

}  // namespace tracer
