// Says why filters, or parts of them, have found no function.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "functions/library/modules.h"
#include "functions/library/symbol_filter.h"

namespace tracer::functions {

class MissedFilters {
 public:
  /// The modules of a process, before anything is looked for in them.
  void look_at(const std::map<std::uint64_t, library::Module>& modules);
  /// Says for each part of `selection` that has found nothing in any module why that may be; a line each.
  /// `found`: another part has found something, so that only what is given by its name is worth a line.
  [[nodiscard]] std::vector<std::string> reasons(const library::LibrarySelection& selection, bool found) const;

 private:
  struct Seen {
    std::string name;
    std::string path;
    bool is_program = false;
    std::shared_ptr<const library::ModuleFile> file;
  };
  static constexpr std::size_t most_modules = 1024;
  static constexpr std::size_t most_symbols = 1'000'000;  ///< of all these

  [[nodiscard]] std::vector<const Seen*> matching(std::string_view module) const;
  [[nodiscard]] std::string why_no_module(const library::SymbolFilter::Wanted& wanted) const;
  [[nodiscard]] std::string why_no_call(const library::SymbolFilter::Wanted& wanted) const;
  [[nodiscard]] std::string why_no_function(const library::SymbolFilter::Wanted& wanted) const;

  std::vector<Seen> seen_;
  std::size_t symbols_ = 0;
};

}  // namespace tracer::functions
