// Messages between the tracer and its reader process (reader.h): values and texts one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tracer::debuginfo {

class Output {
 public:
  template <typename T>
  void value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* bytes = reinterpret_cast<const char*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }
  void text(std::string_view text) {
    value(text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }
  template <typename T>
  void values(const std::vector<T>& all) {
    static_assert(std::is_trivially_copyable_v<T>);
    text({reinterpret_cast<const char*>(all.data()), all.size() * sizeof(T)});
  }

  [[nodiscard]] const std::vector<char>& bytes() const { return bytes_; }

 private:
  std::vector<char> bytes_;
};

/// Reads what an Output has written. What is missing is zero or empty, and `bad()` is true then.
class Input {
 public:
  explicit Input(std::vector<char> bytes) : bytes_(std::move(bytes)) {}

  template <typename T>
  T value() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (const char* from = take(sizeof value); from != nullptr) {
      std::memcpy(&value, from, sizeof value);
    }
    return value;
  }
  std::string_view text() {
    const auto size = value<std::size_t>();
    const char* from = take(size);
    return from == nullptr ? std::string_view{} : std::string_view(from, size);
  }
  template <typename T>
  std::vector<T> values() {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::string_view bytes = text();
    std::vector<T> all(bytes.size() / sizeof(T));
    if (!all.empty()) {
      std::memcpy(all.data(), bytes.data(), all.size() * sizeof(T));
    }
    return all;
  }

  [[nodiscard]] bool bad() const { return bad_; }

 private:
  const char* take(std::size_t size) {
    if (bad_ || size > bytes_.size() - at_) {
      bad_ = true;
      return nullptr;
    }
    const char* from = bytes_.data() + at_;
    at_ += size;
    return from;
  }

  std::vector<char> bytes_;
  std::size_t at_ = 0;
  bool bad_ = false;
};

}  // namespace tracer::debuginfo
