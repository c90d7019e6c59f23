// A text over the rows: the details of a call, help, an explanation.
#pragma once

#include <string>
#include <vector>

#include "replay/viewer/terminal.h"

namespace tracer::replay::viewer {

class Overlay {
 public:
  explicit Overlay(std::vector<std::string> lines) : lines_(std::move(lines)) {}

  void draw(std::vector<Line>& screen, std::size_t room, std::size_t columns);
  /// Returns whether it stays.
  [[nodiscard]] bool on_input(const Input& input, std::size_t room);

 private:
  std::vector<std::string> lines_;
  std::size_t first_ = 0;
};

}  // namespace tracer::replay::viewer
