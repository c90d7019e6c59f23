#include "arch/x86_64/instruction.h"

namespace tracer::arch {
namespace {

#ifdef ZYDIS_STATIC_BUILD
Zydis load_zydis() {
  return {::ZydisDecoderInit, ::ZydisDecoderDecodeFull, ::ZydisRegisterGetId, ::ZydisRegisterGetClass};
}
#else
Zydis load_zydis() {
  SharedLibrary library(ZYDIS_LIBRARY, ZYDIS_PACKAGE);
  Zydis result;
  library.find(result.init, "ZydisDecoderInit");
  library.find(result.decode, "ZydisDecoderDecodeFull");
  library.find(result.register_id, "ZydisRegisterGetId");
  library.find(result.register_class, "ZydisRegisterGetClass");
  result.status = library.status();
  return result;
}
#endif

}  // namespace

const Zydis& zydis() {
  static const Zydis loaded = load_zydis();
  return loaded;
}

std::optional<Instruction> decode(Abi abi, std::span<const std::byte> code) {
  const Zydis& library = zydis();
  if (!library.status) {
    return std::nullopt;
  }
  ZydisDecoder decoder;
  const bool narrow = abi == Abi::i386;
  library.init(&decoder, narrow ? ZYDIS_MACHINE_MODE_LEGACY_32 : ZYDIS_MACHINE_MODE_LONG_64,
               narrow ? ZYDIS_STACK_WIDTH_32 : ZYDIS_STACK_WIDTH_64);
  Instruction result;
  if (ZYAN_SUCCESS(library.decode(&decoder, code.data(), code.size(), &result.facts, std::data(result.operands)))) {
    return result;
  }
  return std::nullopt;
}

}  // namespace tracer::arch
