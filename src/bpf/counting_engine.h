// The engine behind make_counting_engine(). Private to this folder.
#pragma once

#include <memory>
#include <vector>

#include "bpf/counting.h"
#include "bpf/kernel_engine.h"

struct ring_buffer;

namespace tracer {

class CountingEngine final : public KernelEngine {
 public:
  using KernelEngine::KernelEngine;
  ~CountingEngine() override;

  /// Puts the programs into the kernel.
  Status load();

  Result<RunEnd> run(EventHandler& handler) override;

 private:
  struct FreeRing {
    void operator()(ring_buffer* ring) const;
  };

  void on_life(const life_report& life);
  [[nodiscard]] std::vector<CallTotals> read_totals() const;
  void read_latencies(std::vector<CallTotals>& totals) const;
  void complain_of_unsorted();

  counting_shared* shared_ = nullptr;
  std::unique_ptr<ring_buffer, FreeRing> ring_;
};

}  // namespace tracer
