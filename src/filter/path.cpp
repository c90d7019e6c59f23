#include "filter/path.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/printable.h"

namespace tracer::filter {
namespace {

struct Free {
  void operator()(char* text) const { std::free(text); }
};

}  // namespace

std::string PathSet::add(const std::string& path) {
  paths_.push_back(path);
  const std::unique_ptr<char, Free> real(::realpath(path.c_str(), nullptr));
  if (real == nullptr || path == real.get()) {
    return {};
  }
  paths_.emplace_back(real.get());
  return "Requested path \"" + printable(path) + "\" resolved into \"" + printable(real.get()) + "\"";
}

bool PathSet::has(std::string_view path) const {
  return std::find(paths_.begin(), paths_.end(), path) != paths_.end();
}

bool PathSet::has_link(std::string_view link) const {
  constexpr std::string_view deleted = " (deleted)";
  return has(link) || (link.ends_with(deleted) && has(link.substr(0, link.size() - deleted.size())));
}

std::size_t PathSet::longest() const {
  std::size_t longest = 0;
  for (const std::string& path : paths_) {
    longest = std::max(longest, path.size());
  }
  return longest;
}

}  // namespace tracer::filter
