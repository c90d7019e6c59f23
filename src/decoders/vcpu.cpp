// The exit reason of a KVM virtual CPU.
#include <array>

#include "decoders/decoders.h"
#include "decoders/helpers.h"

namespace tracer::decoders {

bool kvm_exit(decode::CustomContext& context) {
  constexpr std::uint64_t exit_reason_offset = 8;  // in struct kvm_run (linux/kvm.h)
  const auto fd = static_cast<std::int32_t>(context.entry().args[0]);
  const RemoteAddr area = context.names().kernel.vcpu_area(context.task(), fd);
  std::array<std::byte, 4> raw{};
  if (area.value() == 0 || context.memory().read(area + exit_reason_offset, raw) != raw.size()) {
    return true;
  }
  const auto name = context.constant_name("kvm_exit_reason", number_at(raw, 0, 4));
  auto& out = context.out();
  out.begin_parts();
  out.begin_part({});
  out.symbol(name.empty() ? "KVM_EXIT_???" : name);  // strace ignores -X here
  if (context.options().whole_vcpu) {
    out.begin_part("kvm_run");
    if (!context.described_at(area)) {
      out.address(area);
    }
  }
  out.end_parts();
  return true;
}

}  // namespace tracer::decoders
