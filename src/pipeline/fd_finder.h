// Finds the descriptors in the arguments of a call: an emitter that drops everything else.
#pragma once

#include <utility>

#include "render/emitter.h"

namespace tracer::pipeline {

/// Calls `Function` with each descriptor of a decoded call.
template <typename Function>
class FdFinder final : public render::Emitter {
 public:
  explicit FdFinder(Function function, bool shows_unfinished = false)
      : function_(std::move(function)), shows_unfinished_(shows_unfinished) {}
  [[nodiscard]] bool shows_unfinished() const override { return shows_unfinished_; }

  [[nodiscard]] std::size_t written() const override { return 0; }
  void scalar(std::uint64_t bits, const spec::Type& type) override {
    if (type.style == spec::Style::fd || type.style == spec::Style::dirfd) {
      function_(static_cast<std::int32_t>(bits));
    }
  }

  void begin_call(std::string_view) override {}
  void begin_argument(std::string_view, std::string_view, std::uint64_t) override {}
  void end_argument() override {}
  void end_arguments() override {}
  void begin_result(const render::CallResult&) override {}
  void begin_note(std::string_view, bool) override {}
  void end_note() override {}
  void end_result() override {}
  void begin_struct() override {}
  void begin_field(std::string_view, std::string_view) override {}
  void end_struct() override {}
  void begin_array() override {}
  void begin_element(std::string_view /*index*/) override {}
  void end_array() override {}
  void more() override {}
  void constant(std::uint64_t, const spec::Type&, Abi) override {}
  void bytes(std::span<const std::byte>, render::StringForm) override {}
  void address(RemoteAddr) override {}
  void symbol(std::string_view) override {}
  void named(const render::SymbolicName&, std::uint64_t, const spec::Type&) override {}
  void named_bytes(const render::SymbolicName&, std::span<const std::byte>) override {}
  void comment(std::string_view) override {}
  void annotation(std::string_view, std::string_view) override {}
  void changed() override {}

 private:
  Function function_;
  bool shows_unfinished_;
};

}  // namespace tracer::pipeline
