// JsonEmitter writes a decoded call as members of a JSON object: "name", "args", "ret" or "errno", "note".
#pragma once

#include <array>

#include "base/text_buffer.h"
#include "format/constants.h"
#include "render/emitter.h"

namespace tracer::render {

/// Appends `"name":"read","args":[{"name":"fd","type":"fd","raw":3,"value":3},…],"ret":5` to a buffer that the caller
/// owns. The caller writes the enclosing braces and the other members.
///
/// Numbers are numbers, beyond 2^53 strings; constants and other names are strings; bytes are strings, {"bytes":"48e9"}
/// if they are not UTF-8, {"string":…,"truncated":true} or {"bytes":…,"truncated":true} if they are truncated; structs
/// are objects; addresses are strings "0x…", null for NULL. A value that the call has changed is
/// {"before":…,"after":…}; an annotated one is {"value":3,"name":"/etc/passwd"}; several values in one place are an
/// array. An abbreviated object has "...":true, and an abbreviated array ends with the string "...".
class JsonEmitter : public Emitter {
 public:
  JsonEmitter(const spec::Tables& tables, TextBuffer& text) : tables_(tables), text_(&text) {}

  void set_buffer(TextBuffer& text) { text_ = &text; }
  void reset();

  /// The state of a call between its entry and its exit. An emitter that serves several threads saves one for each.
  struct Progress {
    bool first_argument = true;
    // State of an argument that is still open:
    std::size_t value_start = 0;
    std::size_t first_start = 0;
    unsigned values = 0;
    std::uint64_t raw = 0;
  };
  [[nodiscard]] Progress progress() const {
    return {first_argument_, levels_[0].value_start, levels_[0].first_start, levels_[0].values, raw_};
  }
  void resume(Progress progress);

  [[nodiscard]] std::size_t written() const override { return text_->size(); }
  void begin_call(std::string_view name) override;
  void begin_argument(std::string_view name, std::string_view type, std::uint64_t raw) override;
  void end_argument() override;
  /// Ends an argument that waited for the exit of a call that has none: where nothing of it is known, it is an address.
  void end_unread_argument();
  void end_arguments() override;
  void begin_result(const CallResult& result) override;
  void begin_note(std::string_view prefix, bool styled) override;
  void end_note() override;
  void end_result() override;
  void begin_struct() override;
  void begin_field(std::string_view name, std::string_view type) override;
  void end_struct() override;
  void begin_array() override;
  void begin_element(std::string_view index) override;
  void end_array() override;
  void more() override;
  void scalar(std::uint64_t bits, const spec::Type& type) override;
  void constant(std::uint64_t bits, const spec::Type& type, Abi abi) override;
  void bytes(std::span<const std::byte> data, StringForm form) override;
  void address(RemoteAddr address) override;
  void symbol(std::string_view text) override;
  void named(const SymbolicName& name, std::uint64_t bits, const spec::Type& number) override;
  void named_bytes(const SymbolicName& name, std::span<const std::byte> data) override;
  void comment(std::string_view text) override;
  void annotation(std::string_view text, std::string_view suffix) override;
  void security_context(std::string_view text) override;
  void changed() override;

 private:
  static constexpr std::size_t max_depth = 64;

  /// A container of values: an argument or the result (level 0), an object, an array.
  struct Level {
    bool is_object = false;
    bool first = true;            ///< it has no value yet
    bool changing = false;        ///< the current value is a {"before":…,"after":…}
    std::size_t value_start = 0;  ///< offset of the current slot
    std::size_t first_start = 0;  ///< offset of the first value in the current slot
    std::size_t opened_at = 0;    ///< offset of the opening bracket
    unsigned values = 0;          ///< number of values in the current slot
  };

  void begin_slot();
  void end_slot();
  void next_slot();
  void open(char bracket, bool is_object);
  void close(char bracket);
  void begin_value();
  void end_values();
  void wrap_last(std::string_view member, std::string_view text);
  void string(std::string_view text);
  void append_name(const SymbolicName& name);

  const spec::Tables& tables_;
  TextBuffer* text_;
  TextBuffer name_buffer_;  ///< scratch space for a constant or a name
  bool first_argument_ = true;
  std::uint64_t raw_ = 0;  ///< of the last argument
  std::size_t note_start_ = 0;
  std::size_t last_value_ = 0;
  std::size_t depth_ = 0;
  std::array<Level, max_depth> levels_{};
};

}  // namespace tracer::render
