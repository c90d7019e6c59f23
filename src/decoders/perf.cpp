// struct perf_event_attr, perf_event_open(2).
#include <array>

#include "decoders/decoders.h"
#include "decoders/helpers.h"

namespace tracer::decoders {
namespace {

struct BitField {
  std::string_view name;
  unsigned width = 1;
};

constexpr std::array<BitField, 37> bit_fields = {{{"disabled"},
                                                  {"inherit"},
                                                  {"pinned"},
                                                  {"exclusive"},
                                                  {"exclude_user"},
                                                  {"exclude_kernel"},
                                                  {"exclude_hv"},
                                                  {"exclude_idle"},
                                                  {"mmap"},
                                                  {"comm"},
                                                  {"freq"},
                                                  {"inherit_stat"},
                                                  {"enable_on_exec"},
                                                  {"task"},
                                                  {"watermark"},
                                                  {"precise_ip", 2},
                                                  {"mmap_data"},
                                                  {"sample_id_all"},
                                                  {"exclude_host"},
                                                  {"exclude_guest"},
                                                  {"exclude_callchain_kernel"},
                                                  {"exclude_callchain_user"},
                                                  {"mmap2"},
                                                  {"comm_exec"},
                                                  {"use_clockid"},
                                                  {"context_switch"},
                                                  {"write_backward"},
                                                  {"namespaces"},
                                                  {"ksymbol"},
                                                  {"bpf_event"},
                                                  {"aux_output"},
                                                  {"cgroup"},
                                                  {"text_poke"},
                                                  {"build_id"},
                                                  {"inherit_thread"},
                                                  {"remove_on_exec"},
                                                  {"sigtrap"}}};
constexpr unsigned described_bits = 38;

/// PERF_PMU_TYPE_SHIFT of linux/perf_event.h.
constexpr unsigned pmu_shift = 32;

/// Appends the PMU type, which selects the kind of core on hybrid machines: `0x4<<32|`; nothing if it is 0.
void append_pmu(TextBuffer& text, std::uint64_t config) {
  if (const auto pmu = config >> pmu_shift; pmu != 0) {
    text.hex(pmu);
    text.append("<<32|");
  }
}

}  // namespace

/// Shows each bit-field as a field; without -v only precise_ip and those that are not 0.
bool perf_bits(decode::CustomContext& context) {
  static constexpr std::array<std::string_view, 4> skids = {"arbitrary skid", "constant skid",
                                                            "requested to have 0 skid", "must have 0 skid"};
  std::array<std::byte, 8> raw{};
  if (!context.copy(raw)) {
    return false;
  }
  const auto bits = number_at(raw, 0, 8);
  auto& out = context.out();
  unsigned shift = 0;
  for (const BitField& field : bit_fields) {
    const auto value = bits >> shift & ((1U << field.width) - 1);
    shift += field.width;
    const bool is_skid = field.width == 2;
    if (value == 0 && context.depth().abbreviate && !is_skid) {
      continue;
    }
    out.begin_field(field.name, "u64");
    context.number(value, spec::Style::number, 4, false);
    if (is_skid) {
      out.comment(skids[value]);
    }
  }
  if (const auto reserved = bits >> described_bits; reserved != 0) {
    out.begin_field("__reserved_1", "u64");
    context.number(reserved, spec::Style::hex, 8, false);
    out.comment("Bits 63..38");
  }
  return true;
}

/// Shows what becomes of a paused AUX area, each bit as a field, and the bits behind them.
bool perf_aux_action(decode::CustomContext& context) {
  static constexpr std::array<std::string_view, 3> names = {"aux_start_paused", "aux_pause", "aux_resume"};
  std::array<std::byte, 4> raw{};
  if (!context.copy(raw)) {
    return false;
  }
  auto bits = number_at(raw, 0, 4);
  auto& out = context.out();
  for (const auto name : names) {
    out.begin_field(name, "u32");
    context.number(bits & 1U, spec::Style::number, 4, false);
    bits >>= 1U;
  }
  if (bits != 0) {
    out.begin_field("__reserved_3", "u32");
    context.number(bits, spec::Style::hex, 4, false);
    out.comment("Bits 931..959");
  }
  return true;
}

/// Shows a hardware event with its PMU type: `0xa<<32|PERF_COUNT_HW_INSTRUCTIONS`.
bool perf_hw_event(decode::CustomContext& context) {
  std::array<std::byte, 8> raw{};
  if (!context.copy(raw)) {
    return false;
  }
  const auto bits = number_at(raw, 0, 8);
  if (bits >> pmu_shift == 0) {
    return context.described();
  }
  TextBuffer text;
  append_pmu(text, bits);
  const auto event = bits & 0xffffffff;
  append_named(text, event, context.constant_name("perf_hw", event), "PERF_COUNT_HW_???",
               context.out().constant_form());
  context.out().symbol(text.view());
  return true;
}

/// Shows a hardware cache event:
/// `PERF_COUNT_HW_CACHE_RESULT_MISS<<16|PERF_COUNT_HW_CACHE_OP_READ<<8|PERF_COUNT_HW_CACHE_LL`.
bool perf_hw_cache(decode::CustomContext& context) {
  static constexpr std::array<std::string_view, 2> results = {"ACCESS", "MISS"};
  static constexpr std::array<std::string_view, 3> operations = {"READ", "WRITE", "PREFETCH"};
  static constexpr std::array<std::string_view, 7> caches = {"L1D", "L1I", "LL", "DTLB", "ITLB", "BPU", "NODE"};
  std::array<std::byte, 8> raw{};
  if (!context.copy(raw)) {
    return false;
  }
  const auto bits = number_at(raw, 0, 8);
  TextBuffer text;
  const auto part = [&](std::span<const std::string_view> names, std::string_view prefix, unsigned shift) {
    const auto value = bits >> shift & 0xff;
    TextBuffer name;
    TextBuffer unknown;
    name.append(value < names.size() ? prefix : "");
    name.append(value < names.size() ? names[value] : "");
    unknown.append(prefix);
    unknown.append("???");
    append_named(text, value, name.view(), unknown.view(), context.out().constant_form());
    if (shift != 0) {
      text.append("<<");
      text.decimal(std::uint64_t{shift});
      text.append('|');
    }
  };
  append_pmu(text, bits);
  if (const auto rest = bits >> 24 & 0xff; rest != 0) {
    text.hex(rest);
    text.append("<<24|");
  }
  part(results, "PERF_COUNT_HW_CACHE_RESULT_", 16);
  part(operations, "PERF_COUNT_HW_CACHE_OP_", 8);
  part(caches, "PERF_COUNT_HW_CACHE_", 0);
  context.out().symbol(text.view());
  return true;
}

}  // namespace tracer::decoders
