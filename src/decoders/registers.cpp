// Registers and segments of x86, and call numbers in them.
#include <algorithm>
#include <array>

#include "decoders/decoders.h"
#include "decoders/helpers.h"
#include "format/error_names.h"

namespace tracer::decoders {
namespace {

/// A member of struct user on x86-64 (sys/user.h).
struct Member {
  std::uint64_t offset = 0;
  std::string_view name;
  bool is_register = false;
};

constexpr std::uint64_t size_of_user = 912;

constexpr std::array<Member, 34> members = {
    {{0, "R15", true},        {8, "R14", true},    {16, "R13", true},    {24, "R12", true},  {32, "RBP", true},
     {40, "RBX", true},       {48, "R11", true},   {56, "R10", true},    {64, "R9", true},   {72, "R8", true},
     {80, "RAX", true},       {88, "RCX", true},   {96, "RDX", true},    {104, "RSI", true}, {112, "RDI", true},
     {120, "ORIG_RAX", true}, {128, "RIP", true},  {136, "CS", true},    {144, "EFL", true}, {152, "RSP", true},
     {160, "SS", true},       {216, "u_fpvalid"},  {224, "i387"},        {736, "u_tsize"},   {744, "u_dsize"},
     {752, "u_ssize"},        {760, "start_code"}, {768, "start_stack"}, {776, "signal"},    {784, "reserved"},
     {792, "u_ar0"},          {800, "u_fpstate"},  {808, "magic"},       {816, "u_comm"}}};
constexpr Member last_member{848, "u_debugreg"};

}  // namespace

/// Shows the offset of PTRACE_PEEKUSER: `8*R13`, `offsetof(struct user, i387)+8`.
bool user_area(decode::CustomContext& context) {
  const auto address = context.value();
  const auto abi = context.entry().abi;
  if (abi == Abi::aarch64 || abi == Abi::arm || address > size_of_user) {
    context.number(address, spec::Style::hex, 8, false);
    return true;
  }
  TextBuffer text;
  if (address == size_of_user) {
    context.named("sizeof(struct user)", address);
    return true;
  }
  const Member* found = &last_member;
  if (address < last_member.offset) {
    found =
        std::find_if(members.rbegin(), members.rend(), [&](const Member& m) { return m.offset <= address; }).base() - 1;
  }
  text.append(found->is_register ? "8*" : "offsetof(struct user, ");
  text.append(found->name);
  text.append(found->is_register ? "" : ")");
  if (address != found->offset) {
    text.append('+');
    text.decimal(address - found->offset);
  }
  context.named(text.view(), address);
  return true;
}

/// Shows a call number as the architecture says that stands beside it (AUDIT_ARCH_… of linux/audit.h): `__NR_write` if
/// that is the tracee's ABI, `4 /* write */` if it is another one of the same machine. In struct seccomp_data (32 bits)
/// it is the next member; in struct ptrace_syscall_info (64 bits) it stands 20 bytes before.
bool filtered_call(decode::CustomContext& context) {
  struct Known {
    std::uint64_t bits;
    Abi abi;
  };
  static constexpr std::array<Known, 4> known = {
      {{0xc000003e, Abi::x86_64}, {0x40000003, Abi::i386}, {0xc00000b7, Abi::aarch64}, {0x40000028, Abi::arm}}};
  constexpr std::uint64_t before_number = 20;
  std::array<std::byte, 8> wide{};
  std::array<std::byte, 4> arch{};
  const unsigned width = context.size() == wide.size() ? 8 : 4;
  const auto raw = std::span(wide).first(width);
  if (!context.copy(raw)) {
    return false;
  }
  const auto beside = width == wide.size() ? context.address() + -before_number : context.address() + width;
  static_cast<void>(context.memory().read(beside, arch));
  const auto number = number_at(raw, 0, width);
  const auto* found = std::find_if(known.begin(), known.end(),
                                   [&](const Known& k) { return k.bits == number_at(arch, 0, arch.size()); });
  const auto own = context.entry().abi;
  const auto is_arm = [](Abi abi) { return abi == Abi::aarch64 || abi == Abi::arm; };
  const bool is_known = found != known.end() && is_arm(found->abi) == is_arm(own);
  const auto name = is_known ? context.call_numbered(found->abi, number) : std::string_view{};
  if (name.empty() || found->abi != own) {
    context.number(number, spec::Style::number, width, false);
    name.empty() ? void() : context.out().comment(name);
    return true;
  }
  TextBuffer text;
  text.append("__NR_");
  text.append(name);
  context.named(text.view(), number, spec::Style::number);
  return true;
}

/// Shows struct user_desc of modify_ldt(2) and set_thread_area(2).
bool user_desc(decode::CustomContext& context) {
  struct BitField {
    std::string_view name;
    unsigned width = 1;
  };
  static constexpr std::array<BitField, 7> fields = {{{"seg_32bit"},
                                                      {"contents", 2},
                                                      {"read_exec_only"},
                                                      {"limit_in_pages"},
                                                      {"seg_not_present"},
                                                      {"useable"},
                                                      {"lm"}}};
  // Of one that could not be found or read, the number that was asked for is all there has to be.
  std::array<std::byte, 16> raw{};
  const bool asked = context.outcome() != nullptr;
  const bool failed = asked && (context.outcome()->is_error || !context.copy(raw));
  if (!context.copy(std::span(raw).first(failed ? 4 : raw.size()))) {
    return false;
  }
  auto& out = context.out();
  TextBuffer text;
  const auto hex_field = [&](std::string_view name, std::uint64_t value) {
    text.clear();
    value == 0 ? text.append("00000000") : text.hex_padded(value, 6);
    out.begin_field(name, "u32");
    out.symbol(text.view());
  };
  out.begin_struct();
  out.begin_field("entry_number", "u32");
  const auto entry = number_at(raw, 0, 4);  // all ones: the kernel chooses a free entry
  context.number(format::cut(entry, 4, entry == 0xffffffff), spec::Style::number, 4, entry == 0xffffffff);
  if (failed) {
    out.more();
    out.end_struct();
    return true;
  }
  hex_field("base_addr", number_at(raw, 4, 4));
  hex_field("limit", number_at(raw, 8, 4));
  auto bits = number_at(raw, 12, 4);
  for (const BitField& field : fields) {
    if (field.name == "lm" && word_size(context.entry().abi) != 8) {
      break;
    }
    out.begin_field(field.name, "u32");
    context.number(bits & ((1U << field.width) - 1), spec::Style::number, 4, false);
    bits >>= field.width;
  }
  out.end_struct();
  return true;
}

/// Shows the entry that the kernel has chosen, as the note of set_thread_area: `entry_number=12`.
bool ldt_result(decode::CustomContext& context) {
  const std::uint64_t result = context.value();
  constexpr std::uint64_t first_error = 0xfffff001;
  const bool is_error = result >= first_error && result <= 0xffffffff;
  const int number = is_error ? static_cast<int>(0x100000000 - result) : 0;
  if (format::error_name(number).empty()) {
    context.number(result, spec::Style::number, 8, false);
    return true;
  }
  TextBuffer text;
  text.decimal(result);
  text.append(' ');
  text.append(format::error_name(number));
  text.append(" (");
  text.append(format::error_text(number));
  text.append(')');
  context.out().symbol(text.view());
  return true;
}

bool thread_area_entry(decode::CustomContext& context) {
  std::array<std::byte, 16> raw{};
  if (context.depth().dereference && context.memory().read(RemoteAddr(context.entry().args[0]), raw) == raw.size()) {
    TextBuffer text;
    text.append("entry_number=");
    text.decimal(number_at(raw, 0, 4));
    context.out().symbol(text.view());
  }
  return true;
}

}  // namespace tracer::decoders
