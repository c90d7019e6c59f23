// A value as its custom decoder sees it.
#pragma once

#include "decode/values.h"

namespace tracer::decode {

class CustomValue final : public CustomContext {
 public:
  CustomValue(ValueDecoder& values, const spec::Type* type, Place place, std::uint64_t size, const Context& context)
      : values_(values), session_(values.session()), type_(type), place_(place), size_(size), context_(context) {
    context_.scope = nullptr;
  }

  [[nodiscard]] bool in_memory() const override { return place_.kind != Place::Kind::reg; }
  [[nodiscard]] std::uint64_t value() const override { return place_.bits; }
  [[nodiscard]] RemoteAddr address() const override { return place_.address; }
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] bool copy(std::span<std::byte> into) const override;
  [[nodiscard]] const Entry& entry() const override { return session_.state.entry; }
  [[nodiscard]] const Outcome* outcome() const override { return session_.outcome; }
  [[nodiscard]] std::uint64_t next_register() const override;
  [[nodiscard]] Depth depth() const override { return session_.state.depth; }
  [[nodiscard]] const Options& options() const override { return session_.setting.options; }
  [[nodiscard]] std::string_view call_numbered(Abi abi, std::uint64_t number) const override;
  [[nodiscard]] std::string_view call_name() const override;
  [[nodiscard]] std::string_view previous_call() const override;
  [[nodiscard]] std::optional<std::uint64_t> argument(std::string_view name) const override;
  bool spend() override { return session_.spend(); }
  void unreadable_rest(RemoteAddr address) override { values_.arrays().unreadable_rest(address); }
  [[nodiscard]] const trace::Memory& memory() const override { return session_.memory; }
  [[nodiscard]] names::Task task() const override { return session_.task(); }
  [[nodiscard]] const names::Names& names() const override { return session_.setting.names; }
  [[nodiscard]] render::Emitter& out() const override { return session_.out; }
  void constant(std::string_view set, std::uint64_t bits, unsigned width) override;
  void number(std::uint64_t bits, spec::Style style, unsigned width, bool is_signed) override;
  [[nodiscard]] std::string_view described_name() const override;
  bool described() override;
  bool described_at(RemoteAddr address) override;
  [[nodiscard]] std::string_view constant_name(std::string_view set, std::uint64_t bits) const override;
  void described(std::uint64_t bits) override;
  void append_constant(TextBuffer& text, std::uint64_t bits, format::ConstantForm form) const override;
  void append_constant(TextBuffer& text, std::string_view set, std::uint64_t bits,
                       format::ConstantForm form) const override;
  void named(std::string_view name, std::uint64_t bits, spec::Style style, bool is_signed) override;

 private:
  bool described(const Place& place);

  ValueDecoder& values_;
  Session& session_;
  const spec::Type* type_;  ///< null outside a description
  Place place_;
  std::uint64_t size_;
  Context context_;  ///< of what it describes
};

}  // namespace tracer::decode
