// ChoiceSet is a set of enumerators of one enum class, whose values count from 0.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace tracer::filter {

template <typename Choice>
class ChoiceSet {
 public:
  constexpr ChoiceSet() = default;
  constexpr ChoiceSet(std::initializer_list<Choice> choices) {
    for (const Choice choice : choices) {
      add(choice);
    }
  }

  constexpr void add(Choice choice) { bits_ |= bit(choice); }
  constexpr void remove(Choice choice) { bits_ &= ~bit(choice); }
  [[nodiscard]] constexpr bool has(Choice choice) const { return (bits_ & bit(choice)) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }

  constexpr bool operator==(const ChoiceSet&) const = default;

 private:
  static constexpr std::uint32_t bit(Choice choice) { return std::uint32_t{1} << static_cast<unsigned>(choice); }

  std::uint32_t bits_ = 0;
};

}  // namespace tracer::filter
