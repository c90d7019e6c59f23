// The engine behind make_counting_engine(). Private to this directory.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "bpf/counting.h"
#include "bpf/kernel_engine.h"
#include "bpf/record_ring.h"

namespace tracer::bpf {

class CountingEngine final : public KernelEngine {
 public:
  using KernelEngine::KernelEngine;
  ~CountingEngine() override;

  /// Puts the programs into the kernel.
  Status load();

 private:
  [[nodiscard]] int reports() const override;
  [[nodiscard]] int nap_milliseconds() const override { return 1; }
  void conclude() override;
  Next take_reports() override;
  void take_rest(const std::function<bool()>& go_on) override;
  void on_lifecycle(std::span<const std::byte> record);
  [[nodiscard]] std::vector<trace::CallTotals> read_totals() const;
  void read_latencies(std::vector<trace::CallTotals>& totals) const;
  void complain_of_unsorted();

  counting_shared* shared_ = nullptr;
  std::span<const counting_totals> totals_;  ///< of all CPUs, one after the other
  std::optional<RecordRing> ring_;
};

}  // namespace tracer::bpf
