// Classic BPF programs of sockets and of seccomp(2), and codes of eBPF instructions. linux/bpf_common.h, linux/bpf.h.
#include <algorithm>
#include <array>

#include "decoders/decoders.h"
#include "decoders/helpers.h"

namespace tracer::decoders {
namespace {

struct Instruction {
  std::uint64_t code = 0;
  std::uint64_t if_true = 0;
  std::uint64_t if_false = 0;
  std::uint64_t k = 0;
};
constexpr std::size_t instruction_size = 8;

constexpr unsigned load_value = 0, load_index = 1, store = 2, store_index = 3, arithmetic = 4, jump = 5,
                   return_class = 6;

/// Formats the parts of an instruction's code, each as a constant.
struct CodeFormatter {
  TextBuffer& text;
  format::ConstantForm form;

  /// Appends the name at index `bits >> shift` of the table, or the number if the table ends before it.
  void part(std::span<const std::string_view> names, std::uint64_t bits, unsigned shift) const {
    const auto index = bits >> shift;
    append_named(text, bits, index < names.size() ? names[index] : std::string_view{}, "BPF_???", form);
  }
  void next_part(std::span<const std::string_view> names, std::uint64_t bits, unsigned shift) const {
    text.append('|');
    part(names, bits, shift);
  }
  /// Appends bits that no valid code has.
  void rest(std::uint64_t bits) const {
    if (bits != 0) {
      text.append('|');
      text.hex(bits);
      text.append(" /* BPF_??? */");
    }
  }
};

// Parts of a code that classic BPF and eBPF share.
constexpr std::array<std::string_view, 4> sizes = {"BPF_W", "BPF_H", "BPF_B", "BPF_DW"};
constexpr std::array<std::string_view, 2> sources = {"BPF_K", "BPF_X"};
constexpr std::array<std::string_view, 14> operations = {"BPF_ADD", "BPF_SUB", "BPF_MUL",  "BPF_DIV", "BPF_OR",
                                                         "BPF_AND", "BPF_LSH", "BPF_RSH",  "BPF_NEG", "BPF_MOD",
                                                         "BPF_XOR", "BPF_MOV", "BPF_ARSH", "BPF_END"};
using Names = std::span<const std::string_view>;
constexpr std::array<std::string_view, 15> jumps = {"BPF_JA",  "BPF_JEQ",  "BPF_JGT",  "BPF_JGE",  "BPF_JSET",
                                                    "BPF_JNE", "BPF_JSGT", "BPF_JSGE", "BPF_CALL", "BPF_EXIT",
                                                    "BPF_JLT", "BPF_JLE",  "BPF_JSLT", "BPF_JSLE", "BPF_JCOND"};

void append_code(const CodeFormatter& formatter, std::uint64_t code) {
  static constexpr std::array<std::string_view, 8> classes = {"BPF_LD",  "BPF_LDX", "BPF_ST",  "BPF_STX",
                                                              "BPF_ALU", "BPF_JMP", "BPF_RET", "BPF_MISC"};
  static constexpr std::array<std::string_view, 7> modes = {"BPF_IMM", "BPF_ABS", "BPF_IND", "BPF_MEM",
                                                            "BPF_LEN", "BPF_MSH", "BPF_XADD"};
  static constexpr std::array<std::string_view, 3> values = {"BPF_K", "BPF_X", "BPF_A"};
  static constexpr std::array<std::string_view, 2> transfers = {"BPF_TAX", "BPF_TXA"};
  const auto kind = static_cast<unsigned>(code & 7);
  formatter.part(classes, kind, 0);
  switch (kind) {
    case load_value:
    case load_index:
      formatter.next_part(sizes, code & 0x18, 3);
      formatter.next_part(modes, code & 0xe0, 5);
      break;
    case store:
    case store_index:
      formatter.rest(code & ~std::uint64_t{7});
      break;
    case arithmetic:
    case jump:
      formatter.next_part(sources, code & 8, 3);
      formatter.next_part(kind == jump ? Names(jumps) : Names(operations), code & 0xf0, 4);
      break;
    case return_class:
      formatter.next_part(values, code & 0x18, 3);
      formatter.rest(code & ~std::uint64_t{0x1f});
      break;
    default:
      formatter.next_part(std::span(transfers).first((code & 0x78) == 0 ? transfers.size() : 0), code & 0xf8, 7);
      formatter.rest(code & ~std::uint64_t{0xff});
  }
}

/// Appends the code of an eBPF instruction. linux/bpf.h. Without `jump32`, the class BPF_JMP32 is followed by a number.
void append_extended_code(const CodeFormatter& formatter, std::uint64_t code, bool jump32) {
  static constexpr std::array<std::string_view, 8> classes = {"BPF_LD",  "BPF_LDX", "BPF_ST",    "BPF_STX",
                                                              "BPF_ALU", "BPF_JMP", "BPF_JMP32", "BPF_ALU64"};
  static constexpr std::array<std::string_view, 7> modes = {"BPF_IMM",   "BPF_ABS", "BPF_IND",   "BPF_MEM",
                                                            "BPF_MEMSX", "",        "BPF_ATOMIC"};
  const auto kind = static_cast<unsigned>(code & 7);
  const bool moves = kind < arithmetic;
  const bool jumps_here = kind == jump || kind == jump + 1;
  formatter.part(classes, kind, 0);
  if (kind == jump + 1 && !jump32) {
    formatter.rest(code - kind);
    return;
  }
  formatter.next_part(moves ? Names(sizes) : Names(sources), code & (moves ? 0x18U : 0x8U), 3);
  formatter.next_part(moves        ? Names(modes)
                      : jumps_here ? Names(jumps)
                                   : Names(operations),
                      code & (moves ? 0xe0U : 0xf0U), moves ? 5 : 4);
}

/// Appends a seccomp return value: the action and its 16 bits of data.
void append_action(decode::CustomContext& context, TextBuffer& text, std::uint64_t k) {
  append_named(text, k & 0xffff0000, context.constant_name("seccomp_action", k & 0xffff0000), "SECCOMP_RET_???",
               context.out().constant_form());
  if ((k & 0xffff) != 0) {
    text.append('|');
    text.hex(k & 0xffff);
  }
}

/// Appends the offset of a load that is not of the packet's bytes as such: metadata of the packet from SKF_AD_OFF on,
/// or bytes counted from the network or link header. linux/filter.h.
bool append_special_offset(TextBuffer& text, std::uint64_t k, format::ConstantForm form) {
  static constexpr std::array<std::string_view, 16> names = {
      "SKF_AD_PROTOCOL",         "SKF_AD_PKTTYPE",    "SKF_AD_IFINDEX",   "SKF_AD_NLATTR",
      "SKF_AD_NLATTR_NEST",      "SKF_AD_MARK",       "SKF_AD_QUEUE",     "SKF_AD_HATYPE",
      "SKF_AD_RXHASH",           "SKF_AD_CPU",        "SKF_AD_ALU_XOR_X", "SKF_AD_VLAN_TAG",
      "SKF_AD_VLAN_TAG_PRESENT", "SKF_AD_PAY_OFFSET", "SKF_AD_RANDOM",    "SKF_AD_VLAN_TPID"};
  constexpr std::uint64_t ancillary = 0xfffff000;
  constexpr std::uint64_t network = 0xfff00000;
  constexpr std::uint64_t link = 0xffe00000;
  if (k < link) {
    return false;
  }
  if (k < ancillary) {
    const bool of_network = k >= network;
    append_named(text, of_network ? network : link, of_network ? "SKF_NET_OFF" : "SKF_LL_OFF", {}, form);
    text.append('+');
    text.decimal(k - (of_network ? network : link));
    return true;
  }
  const auto offset = k - ancillary;
  const bool is_known = offset % 4 == 0 && offset / 4 < names.size();
  append_named(text, ancillary, "SKF_AD_OFF", {}, form);
  text.append('+');
  append_named(text, offset, is_known ? names[offset / 4] : std::string_view{}, "SKF_AD_???", form);
  return true;
}

using AppendOperand = void (*)(CustomContext&, TextBuffer&, const Instruction&);

void socket_operand(decode::CustomContext& context, TextBuffer& text, const Instruction& instruction) {
  constexpr std::uint64_t class_and_mode = 0xe7, absolute_load = 0x20;
  if ((instruction.code & class_and_mode) != absolute_load ||
      !append_special_offset(text, instruction.k, context.out().constant_form())) {
    text.hex(instruction.k);
  }
}

void seccomp_operand(decode::CustomContext& context, TextBuffer& text, const Instruction& instruction) {
  (instruction.code & 7) == return_class ? append_action(context, text, instruction.k) : text.hex(instruction.k);
}

void append_instruction(decode::CustomContext& context, TextBuffer& text, const Instruction& instruction,
                        AppendOperand operand) {
  const bool branches = instruction.if_true != 0 || instruction.if_false != 0;
  text.append(branches ? "BPF_JUMP(" : "BPF_STMT(");
  append_code({text, context.out().constant_form()}, instruction.code);
  text.append(", ");
  branches ? text.hex(instruction.k) : operand(context, text, instruction);
  if (branches) {
    text.append(", ");
    text.hex(instruction.if_true);
    text.append(", ");
    text.hex(instruction.if_false);
  }
  text.append(')');
}

bool program(decode::CustomContext& context, AppendOperand operand) {
  constexpr std::size_t per_read = 64;
  std::array<std::byte, per_read * instruction_size> raw{};
  const auto count = context.size() / instruction_size;
  if (context.depth().abbreviate) {
    return false;
  }
  auto& out = context.out();
  TextBuffer text;
  std::uint64_t readable = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto here = i % per_read * instruction_size;
    if (here == 0) {
      const auto chunk = std::span(raw).first(std::min<std::size_t>(count - i, per_read) * instruction_size);
      readable = i + context.memory().read(context.address() + i * instruction_size, chunk) / instruction_size;
      if (readable == 0) {
        return false;
      }
    }
    if (i == readable) {
      context.unreadable_rest(context.address() + i * instruction_size);
      break;
    }
    if (i == 0) {
      out.begin_array();
    }
    if (!context.spend()) {
      out.more();
      break;
    }
    text.clear();
    append_instruction(context, text,
                       {number_at(raw, here, 2), number_at(raw, here + 2, 1), number_at(raw, here + 3, 1),
                        number_at(raw, here + 4, 4)},
                       operand);
    out.begin_element();
    out.symbol(text.view());
  }
  if (count == 0) {
    out.begin_array();
  }
  out.end_array();
  return true;
}

}  // namespace

bool bpf_code(decode::CustomContext& context) {
  std::array<std::byte, 1> raw{};
  if (!context.copy(raw)) {
    return false;
  }
  TextBuffer text;
  append_extended_code({text, context.out().constant_form()}, number_at(raw, 0, 1),
                       !context.constant_name("bpf_jump32", jump + 1).empty());
  context.out().symbol(text.view());
  return true;
}

bool bpf_program(decode::CustomContext& context) {
  return program(context, socket_operand);
}

bool seccomp_program(decode::CustomContext& context) {
  return program(context, seccomp_operand);
}

}  // namespace tracer::decoders
