// Single numbers, and what they stand for.
#pragma once

#include "decode/evaluate.h"

namespace tracer::decode {

class ValueDecoder;

class NumberDecoder {
 public:
  NumberDecoder(Session& session, ValueDecoder& values)
      : session_(session), state_(session.state), out_(session.out), values_(values) {}

  void emit_scalar(const spec::Type& type, std::uint64_t bits) const {
    is_bare(type) ? out_.scalar(bits, type) : emit_meaning(type, bits);
  }
  bool show_parts(const spec::Type& type, std::uint64_t bits) const;
  /// Appends the parts of a text that are to show. False if none of them is, or one of them cannot be read.
  bool append_parts(TextBuffer& text, const spec::Show& show, const Context& context) const;
  [[nodiscard]] spec::SetId requests_of_driver(spec::SetId all, std::uint64_t request) const;
  void show_context(std::string_view context) const;

 private:
  /// Whether there is nothing to say of the number but what it is. So it is with most.
  [[nodiscard]] bool is_bare(const spec::Type& type) const {
    return type.index == spec::none && type.set == spec::none &&
           (type.style == spec::Style::number ||
            (type.style == spec::Style::fd && type.args.count == 0 && !session_.setting.annotates_descriptors));
  }
  void emit_meaning(const spec::Type& type, std::uint64_t bits) const;
  void annotate_descriptor(std::int64_t fd) const;
  void annotate(const names::DescriptorName& name) const;
  void annotate_directory(std::int64_t fd) const;
  void annotate_process(std::int64_t pid, bool group) const;
  void emit_wait_status(const spec::Type& type, std::uint64_t bits) const;
  void emit_thread_area(const spec::Type& type, std::uint64_t bits) const;
  void emit_constant(const spec::Type& type, std::uint64_t bits) const;
  void emit_interface(const spec::Type& type, std::uint64_t bits) const;
  void emit_code_address(const spec::Type& type, std::uint64_t bits) const;
  void network_number(const spec::Type& type, std::uint64_t bits) const;
  void bluetooth_number(const spec::Type& type, std::uint64_t bits) const;
  void call_number(const spec::Type& type, std::uint64_t bits) const;
  void number_and_name(std::uint64_t bits, std::string_view name) const;
  void commented_number(const spec::Type& type, std::uint64_t bits) const;
  void descriptor_of_other(const spec::Type& type, std::uint64_t bits) const;
  void append_constant_or_number(TextBuffer& text, const spec::Type& type, std::uint64_t bits,
                                 format::ConstantForm form) const;

  Session& session_;
  CallState& state_;
  render::Emitter& out_;
  ValueDecoder& values_;  ///< for customs
};

}  // namespace tracer::decode
