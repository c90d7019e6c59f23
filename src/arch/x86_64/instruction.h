// One x86 instruction, as Zydis decodes it. For src/arch only.
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

/// Zydis: what we use of it.
struct Zydis {
  decltype(&::ZydisDecoderInit) init = nullptr;
  decltype(&::ZydisDecoderDecodeFull) decode = nullptr;
  decltype(&::ZydisRegisterGetId) register_id = nullptr;
  decltype(&::ZydisRegisterGetClass) register_class = nullptr;
  Status status = Done{};  ///< the functions are null where it is an error
};

/// Loaded when it is first asked for.
const Zydis& zydis();

struct Instruction {
  ZydisDecodedInstruction facts;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/// The first instruction of `code`; empty if it is none, or Zydis cannot be loaded.
std::optional<Instruction> decode(Abi abi, std::span<const std::byte> code);

}  // namespace tracer::arch
