// LtraceEmitter writes a decoded call as ltrace does: without names of parameters and fields, with unescaped quotation
// marks in strings, `nil` for null pointers, and blanks within brackets.
#pragma once

#include <array>
#include <string>

#include "render/text_emitter.h"

namespace tracer::render {

class LtraceEmitter final : public TextEmitter {
 public:
  /// `max_elements`: the limit of -A for array elements; `...` stands for the rest.
  /// `shows_utf8`: wide characters show as they are; else what is not ASCII is escaped.
  LtraceEmitter(const spec::Tables& tables, TextBuffer& text, TextOptions options, unsigned max_elements,
                bool shows_utf8)
      : TextEmitter(tables, text, std::move(options)),
        tables_(tables),
        max_elements_(max_elements),
        shows_utf8_(shows_utf8) {}

  /// Sets the text before the parenthesis of the next function call; empty: it is a system call, `NAME@SYS`.
  void set_function(std::string_view name) { function_ = name; }
  /// Says whether the call that continues now is a system call.
  void set_is_syscall(bool is_syscall) { is_syscall_ = is_syscall; }

  [[nodiscard]] bool shows_unfinished() const override { return false; }
  [[nodiscard]] Progress progress() const override { return {first_argument(), pending_, false}; }
  void resume(Progress progress) override;

  void begin_call(std::string_view name) override;
  void begin_argument(std::string_view name, std::string_view type, std::uint64_t raw) override;
  void show_argument_name(std::string_view) override {}
  void end_argument() override { begin_pending_argument(); }
  void end_arguments() override;
  void begin_result(const CallResult& result) override;
  void begin_note(std::string_view, bool) override;
  void end_note() override;
  void begin_struct() override;
  void begin_field(std::string_view, std::string_view) override;
  void begin_bare_field(std::string_view, std::string_view) override;
  void end_struct() override;
  void begin_array() override;
  void begin_list() override { begin_array(); }
  void begin_series(bool) override { begin_array(); }
  void end_series(bool) override { end_array(); }
  void begin_element(std::string_view index) override;
  void end_array() override;
  void more() override;
  void begin_parts() override;
  void begin_target() override { begin_pending_argument(); }
  void end_target() override {}
  void scalar(std::uint64_t bits, const spec::Type& type) override;
  void constant(std::uint64_t bits, const spec::Type& type, Abi abi) override;
  void bytes(std::span<const std::byte> data, StringForm form) override;
  void address(RemoteAddr address) override;
  void symbol(std::string_view text) override;
  void named(const SymbolicName& name, std::uint64_t bits, const spec::Type& number) override;
  void named_bytes(const SymbolicName& name, std::span<const std::byte> data) override;
  void comment(std::string_view) override {}
  void annotation(std::string_view, std::string_view) override {}

 protected:
  [[nodiscard]] std::size_t columns_of(std::string_view line) const override;

 private:
  /// An open array. Arrays nested deeper than `arrays_` is long are not truncated.
  struct Elements {
    unsigned count = 0;
    std::size_t cut_at = 0;  ///< size of the text after the last visible element; 0: all are visible so far
  };

  /// Writes the comma before a pending argument. It is delayed until the value, because a line that is interrupted in
  /// between must not show it.
  void begin_pending_argument();
  /// `is_wide`: UTF-8 for wide characters.
  void append_escaped(std::span<const std::byte> data, bool is_wide);
  void append_character(std::uint64_t value, const spec::Type& type);
  Elements* elements() {
    return open_arrays_ == 0 || open_arrays_ > arrays_.size() ? nullptr : &arrays_[open_arrays_ - 1];
  }

  const spec::Tables& tables_;
  unsigned max_elements_;
  bool shows_utf8_;
  std::string_view function_;
  bool is_syscall_ = false;
  bool pending_ = false;
  std::size_t note_start_ = 0;
  std::array<Elements, 16> arrays_{};
  std::size_t open_arrays_ = 0;
};

}  // namespace tracer::render
