// A path as the kernel's programs report it: name by name, from its end to its beginning. Private to this directory.
#pragma once

#include <string>
#include <string_view>

#include "bpf/task_state.h"

namespace tracer::bpf {

class CapturedPath {
 public:
  void add(std::string_view name) {
    text_.insert(0, name);
    text_.insert(0, "/");
  }
  [[nodiscard]] std::string text() const { return text_.empty() ? "/" : text_; }
  /// The whole with what says that it is deleted; empty if it is not known, or does not begin where it should.
  [[nodiscard]] std::string whole(const path_end& end, path_ending beginning) const {
    return end.ending != beginning ? std::string{} : text() + (end.deleted != 0 ? " (deleted)" : "");
  }

 private:
  std::string text_;
};

}  // namespace tracer::bpf
