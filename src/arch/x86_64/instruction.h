// Decodes x86 instructions with Zydis. For src/arch only.
#pragma once

#include <Zydis/Zydis.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "arch/load.h"
#include "base/abi.h"
#include "base/shared_library.h"

namespace tracer::arch {

/// The functions of Zydis that the tracer uses.
struct Zydis {
  decltype(&::ZydisDecoderInit) init = nullptr;
  decltype(&::ZydisDecoderDecodeFull) decode = nullptr;
  decltype(&::ZydisRegisterGetId) register_id = nullptr;
  decltype(&::ZydisRegisterGetClass) register_class = nullptr;
  Status status = Done{};  ///< if it is an error, the functions are null
};

/// Loads Zydis on the first call, unless it is linked.
const Zydis& zydis();

struct Instruction {
  ZydisDecodedInstruction facts;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/// Decodes the first instruction of `code`; empty if it is invalid or Zydis cannot be loaded.
std::optional<Instruction> decode(Abi abi, std::span<const std::byte> code);

}  // namespace tracer::arch
