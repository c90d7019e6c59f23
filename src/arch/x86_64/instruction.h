// One x86 instruction, as Zydis decodes it. For src/arch only.
#pragma once

#include <Zydis/Zydis.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "arch/load.h"
#include "spec/abi.h"

namespace tracer {

struct Instruction {
  ZydisDecodedInstruction facts;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

inline std::optional<Instruction> decode(Abi abi, std::span<const std::byte> code) {
  ZydisDecoder decoder;
  const bool narrow = abi == Abi::i386;
  ZydisDecoderInit(&decoder, narrow ? ZYDIS_MACHINE_MODE_LEGACY_32 : ZYDIS_MACHINE_MODE_LONG_64,
                   narrow ? ZYDIS_STACK_WIDTH_32 : ZYDIS_STACK_WIDTH_64);
  Instruction result;
  if (ZYAN_SUCCESS(
          ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &result.facts, std::data(result.operands)))) {
    return result;
  }
  return std::nullopt;
}

}  // namespace tracer
