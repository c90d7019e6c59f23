#include "json_check.h"

#include <cctype>

namespace tracer::fuzz {
namespace {

constexpr int max_depth = 200;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool whole() { return value(0) && text_.empty(); }

 private:
  bool take(std::string_view expected) {
    if (!text_.starts_with(expected)) {
      return false;
    }
    text_.remove_prefix(expected.size());
    return true;
  }

  bool value(int depth) {
    if (depth > max_depth) {
      return false;
    }
    if (text_.starts_with('"')) {
      return string();
    }
    if (take("{")) {
      return take("}") || members(depth, '}');
    }
    if (take("[")) {
      return take("]") || members(depth, ']');
    }
    return take("null") || take("true") || take("false") || number();
  }

  bool members(int depth, char end) {
    do {
      if (end == '}' && !(string() && take(":"))) {
        return false;
      }
      if (!value(depth + 1)) {
        return false;
      }
    } while (take(","));
    return take(std::string_view(&end, 1));
  }

  bool digits() {
    std::size_t count = 0;
    while (count < text_.size() && std::isdigit(static_cast<unsigned char>(text_[count])) != 0) {
      ++count;
    }
    text_.remove_prefix(count);
    return count != 0;
  }

  bool number() {
    take("-");
    if (!take("0") && !digits()) {
      return false;
    }
    if (take(".") && !digits()) {
      return false;
    }
    if (take("e") || take("E")) {
      static_cast<void>(take("+") || take("-"));
      return digits();
    }
    return true;
  }

  bool string() {
    if (!take("\"")) {
      return false;
    }
    while (!text_.empty()) {
      const auto c = static_cast<unsigned char>(text_.front());
      text_.remove_prefix(1);
      if (c == '"') {
        return true;
      }
      if (c < 0x20 || (c == '\\' && !escape()) || (c >= 0x80 && !rest_of_character(c))) {
        return false;
      }
    }
    return false;
  }

  bool escape() {
    if (take("u")) {
      for (int i = 0; i < 4; ++i) {
        if (text_.empty() || std::isxdigit(static_cast<unsigned char>(text_.front())) == 0) {
          return false;
        }
        text_.remove_prefix(1);
      }
      return true;
    }
    if (text_.empty() || std::string_view("\"\\/bfnrt").find(text_.front()) == std::string_view::npos) {
      return false;
    }
    text_.remove_prefix(1);
    return true;
  }

  /// The bytes that follow the first one of a character in UTF-8.
  bool rest_of_character(unsigned char first) {
    const int count = first >= 0xf0 && first < 0xf8 ? 3 : first >= 0xe0 ? 2 : first >= 0xc2 ? 1 : 0;
    if (count == 0 || first >= 0xf8) {
      return false;
    }
    for (int i = 0; i < count; ++i) {
      if (text_.empty() || (static_cast<unsigned char>(text_.front()) & 0xc0U) != 0x80) {
        return false;
      }
      text_.remove_prefix(1);
    }
    return true;
  }

  std::string_view text_;
};

}  // namespace

bool is_json(std::string_view text) {
  return Reader(text).whole();
}

}  // namespace tracer::fuzz
