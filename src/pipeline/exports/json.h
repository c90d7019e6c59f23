// Jansson's values with an owner.
#pragma once

#include <jansson.h>

#include <memory>
#include <string>
#include <string_view>

namespace tracer::pipeline::exports {

struct ReleaseJson {
  void operator()(json_t* json) const { json_decref(json); }
};
using Json = std::unique_ptr<json_t, ReleaseJson>;

/// Reads one JSON value; null if the text is not one.
[[nodiscard]] Json read_json(std::string_view text);

/// Returns the text of a string; empty if `json` is none.
[[nodiscard]] std::string_view text_of(const json_t* json);

/// Returns the bytes of a value that stands for bytes of a tracee (docs/json.md): a string, or an object with `string`
/// or `bytes`. Sets `cut` if the value was truncated.
[[nodiscard]] std::string bytes_of(const json_t* json, bool& cut);

/// Returns what a value is now: the `after` of a changed value, the `value` of one with a name. Borrowed.
[[nodiscard]] const json_t* bare(const json_t* json);

/// Returns the element of `arguments` (an array, or null) with that name; null if there is none. Borrowed.
[[nodiscard]] const json_t* argument(const json_t* arguments, std::string_view name);

/// Sets a member of an object, which takes the value over. Without memory the object lacks the member.
void set(const Json& object, const char* name, json_t* value);

/// Returns an object of all arguments: their names and values.
[[nodiscard]] Json named_arguments(const json_t* arguments);

/// Returns JSON text in UTF-8 without line breaks.
[[nodiscard]] std::string to_json_text(const json_t* json);

}  // namespace tracer::pipeline::exports
