// Collects messages about descriptions, sorts them by position and prints them as FILE:LINE:COL.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/near_miss.h"
#include "sysc/source.h"

namespace tracer::sysc {

enum class Severity : std::uint8_t { error, warning };

struct Diagnostic {
  Severity severity = Severity::error;
  Position at;
  std::string text;
  std::optional<Position> other = {};  ///< a position in another file, which the end of the text names
  std::string instead = {};            ///< of the number of an ioctl: what says the same
};

class Diagnostics {
 public:
  void error(Position at, std::string text) { add({Severity::error, at, std::move(text)}); }
  /// `other`: the position of the conflicting declaration, which follows the text.
  void error(Position at, std::string text, Position other);
  void warning(Position at, std::string text) { add({Severity::warning, at, std::move(text)}); }
  /// `instead`: what the row at this position should have in place of its number.
  void warning(Position at, std::string text, std::string instead) {
    add({Severity::warning, at, std::move(text), {}, std::move(instead)});
  }
  /// Forgets the warnings about files from number `file` on.
  void drop_warnings_from(std::size_t file);

  [[nodiscard]] bool has_errors() const { return errors_ > 0; }
  [[nodiscard]] std::span<const Diagnostic> all() const { return list_; }
  /// Returns one line for each message, `FILE:LINE:COL: error: TEXT`, in the order of files and lines. After `most`
  /// lines, one line states the number of the others.
  [[nodiscard]] std::string text(std::span<const Source> sources, std::size_t most = ~std::size_t{0}) const;

 private:
  void add(Diagnostic diagnostic);

  std::vector<Diagnostic> list_;
  std::size_t errors_ = 0;
};

}  // namespace tracer::sysc
