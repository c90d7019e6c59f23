// Messages about descriptions: collected, sorted by place, printed as FILE:LINE:COL.
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
  std::optional<Position> other = {};  ///< in another file, to be named at the end of the text
};

class Diagnostics {
 public:
  void error(Position at, std::string text) { add({Severity::error, at, std::move(text)}); }
  /// `other`: what it collides with; its place follows the text.
  void error(Position at, std::string text, Position other);
  void warning(Position at, std::string text) { add({Severity::warning, at, std::move(text)}); }

  [[nodiscard]] bool has_errors() const { return errors_ > 0; }
  [[nodiscard]] std::span<const Diagnostic> all() const { return list_; }
  /// One line each, `FILE:LINE:COL: error: TEXT`, in the order of files and lines; after `most` of them one that says
  /// how many more there are.
  [[nodiscard]] std::string text(std::span<const Source> sources, std::size_t most = ~std::size_t{0}) const;

 private:
  void add(Diagnostic diagnostic);

  std::vector<Diagnostic> list_;
  std::size_t errors_ = 0;
};

}  // namespace tracer::sysc
