#include "pipeline/exports/json.h"

#include <cstdlib>

namespace tracer::pipeline::exports {

namespace {

unsigned digit(char c) {
  return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
}

std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(digit(digits[i]) << 4 | digit(digits[i + 1])));
  }
  return bytes;
}

}  // namespace

Json read_json(std::string_view text) {
  return Json(json_loadb(text.data(), text.size(), JSON_ALLOW_NUL, nullptr));
}

std::string_view text_of(const json_t* json) {
  return json_is_string(json) ? std::string_view(json_string_value(json), json_string_length(json))
                              : std::string_view();
}

std::string bytes_of(const json_t* json, bool& cut) {
  if (!json_is_object(json)) {
    return std::string(text_of(json));
  }
  cut = cut || json_is_true(json_object_get(json, "truncated"));
  const json_t* bytes = json_object_get(json, "bytes");
  return bytes != nullptr ? from_hex(text_of(bytes)) : std::string(text_of(json_object_get(json, "string")));
}

const json_t* bare(const json_t* json) {
  for (const char* member : {"after", "value"}) {
    if (const json_t* inner = json_object_get(json, member); inner != nullptr) {
      json = inner;
    }
  }
  return json;
}

const json_t* argument(const json_t* arguments, std::string_view name) {
  for (std::size_t i = 0; i < json_array_size(arguments); ++i) {
    const json_t* each = json_array_get(arguments, i);
    if (text_of(json_object_get(each, "name")) == name) {
      return each;
    }
  }
  return nullptr;
}

void set(const Json& object, const char* name, json_t* value) {
  static_cast<void>(json_object_set_new(object.get(), name, value));
}

Json named_arguments(const json_t* arguments) {
  Json result(json_object());
  for (std::size_t i = 0; i < json_array_size(arguments); ++i) {
    const json_t* each = json_array_get(arguments, i);
    std::string name(text_of(json_object_get(each, "name")));
    if (name.empty() || json_object_get(result.get(), name.c_str()) != nullptr) {
      name = "argument " + std::to_string(i + 1);
    }
    set(result, name.c_str(), json_incref(json_object_get(each, "value")));
  }
  return result;
}

std::string to_json_text(const json_t* json) {
  std::string text;
  const auto append = [](const char* bytes, std::size_t size, void* to) {
    static_cast<std::string*>(to)->append(bytes, size);
    return 0;
  };
  static_cast<void>(json_dump_callback(json, append, &text, JSON_COMPACT | JSON_ENCODE_ANY));
  return text;
}

}  // namespace tracer::pipeline::exports
