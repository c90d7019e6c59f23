// TextEmitter writes a decoded call as strace does.
#pragma once

#include "base/text_buffer.h"
#include "format/constants.h"
#include "render/emitter.h"
#include "render/palette.h"
#include "render/text_choices.h"

namespace tracer::render {

struct TextOptions {
  HexStrings hex = HexStrings::none;
  format::ConstantForm constants = format::ConstantForm::abbreviate;  ///< -X
  bool argument_names = false;                                        ///< -N
  unsigned column = 40;                                               ///< -a: the column of `= RESULT`
  Palette palette = {};                                               ///< --color
};

/// Appends to a buffer that the caller owns and that holds one line. set_buffer between entry and exit may separate the
/// arguments from the rest of the call; the column of the result counts from the start of the current buffer.
class TextEmitter : public Emitter {
 public:
  TextEmitter(const spec::Tables& tables, TextBuffer& text, TextOptions options)
      : tables_(tables), text_(&text), options_(std::move(options)) {}

  void set_buffer(TextBuffer& text) { text_ = &text; }
  /// Discards the state of an unfinished call.
  void reset();

  /// The state of a call between its entry and its exit. An emitter that serves several threads saves one for each.
  struct Progress {
    bool first_argument = true;
    bool argument_pending = false;  ///< an argument has begun, but nothing of it is written
    bool in_struct = false;         ///< a struct is open: its in-fields are written, its out-fields follow
  };
  [[nodiscard]] virtual Progress progress() const { return {first_argument_, false, depth_ != 0}; }
  virtual void resume(Progress progress);

  [[nodiscard]] std::size_t written() const override { return text_->size(); }
  [[nodiscard]] Names names() const override { return options_.argument_names ? Names::all : Names::none; }
  [[nodiscard]] bool shows_unfinished() const override { return true; }
  void begin_call(std::string_view name) override;
  void begin_argument(std::string_view name, std::string_view type, std::uint64_t raw) override;
  void show_argument_name(std::string_view name) override;
  void end_argument() override {}
  void end_arguments() override;
  void begin_result(const CallResult& result) override;
  void begin_note(std::string_view prefix, bool styled) override;
  void end_note() override;
  void end_result() override;
  void begin_struct() override;
  void begin_field(std::string_view name, std::string_view type) override;
  void begin_bare_field(std::string_view, std::string_view) override { separate(); }
  void end_struct() override;
  void begin_array() override;
  void begin_list() override;
  void begin_series(bool alone) override { open(alone ? "" : "["); }
  void end_series(bool alone) override { close(alone ? "" : "]"); }
  void begin_element(std::string_view index) override;
  void end_array() override;
  void more() override;
  void begin_parts() override;
  void begin_part(std::string_view name) override;
  void end_parts() override;
  void begin_target() override;
  void end_target() override;
  void scalar(std::uint64_t bits, const spec::Type& type) override;
  void constant(std::uint64_t bits, const spec::Type& type, Abi abi) override;
  void bytes(std::span<const std::byte> data, StringForm form) override;
  void address(RemoteAddr address) override;
  void symbol(std::string_view text) override;
  void named(const SymbolicName& name, std::uint64_t bits, const spec::Type& number) override;
  void named_bytes(const SymbolicName& name, std::span<const std::byte> data) override;
  [[nodiscard]] format::ConstantForm constant_form() const override {
    return in_result_ && !in_note_ ? format::ConstantForm::abbreviate : options_.constants;
  }
  void comment(std::string_view text) override;
  void annotation(std::string_view text, std::string_view suffix) override;
  void security_context(std::string_view text) override;
  void changed() override { write(Color::punct, " => "); }

 protected:
  [[nodiscard]] TextBuffer& text() { return *text_; }
  /// Pads the line with blanks up to the column of the result.
  void pad_to_column();
  /// How many columns of the terminal `line` takes.
  [[nodiscard]] virtual std::size_t columns_of(std::string_view line) const;
  [[nodiscard]] bool first_argument() const { return first_argument_; }
  [[nodiscard]] unsigned depth() const { return depth_; }
  void open(std::string_view bracket);
  void close(std::string_view bracket);
  void separate();
  void write(const SymbolicName& name);

 private:
  /// Returns the form of constants here: -X applies to arguments, to elements of a note's aggregates and to styled
  /// notes, but not to results.
  [[nodiscard]] format::ConstantForm form() const {
    return in_result_ && depth_ == 0 && !note_styled_ ? format::ConstantForm::abbreviate : options_.constants;
  }
  [[nodiscard]] bool omits_name() const;
  /// Returns the colour of plain values: the argument's or the result's.
  [[nodiscard]] Color value_color() const { return in_result_ && !in_note_ ? Color::retval : Color::argval; }
  void write(Color color, std::string_view text) {
    options_.palette.paints() ? paint(color, [this, text] { text_->append(text); }) : text_->append(text);
  }
  /// Has what `write` appends in a colour, if there are any.
  template <typename Write>
  void in_color(Color color, const Write& write) {
    options_.palette.paints() ? paint(color, write) : write();
  }
  /// Apart from those that ask first: who has no colours needs neither a brush nor what it takes to unwind it.
  template <typename Write>
  [[gnu::noinline]] void paint(Color color, const Write& write) {
    const Brush brush(*text_, options_.palette, color);
    write();
  }
  void write_name(std::string_view name);
  void write_error(const CallResult& result);
  void write_scalar(std::uint64_t bits, const spec::Type& type);
  void write_bytes(std::span<const std::byte> data, StringForm form);
  void write_string(std::span<const std::byte> data, bool hex);

  const spec::Tables& tables_;
  TextBuffer* text_;
  TextOptions options_;
  bool first_argument_ = true;
  bool in_result_ = false;
  bool in_note_ = false;
  bool note_styled_ = false;
  std::size_t note_start_ = 0;
  std::size_t note_content_ = 0;
  std::uint64_t spaced_ =
      0;                ///< one bit for each open aggregate, like `first_`: its elements are separated by spaces only
  unsigned depth_ = 0;  ///< number of open aggregates
  std::uint64_t first_ = 1;  ///< one bit for each open aggregate, the innermost lowest: it is empty so far
};

}  // namespace tracer::render
