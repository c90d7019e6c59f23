#include "sysc/source.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace tracer::sysc {

namespace {

Source read_file(const std::filesystem::path& path) {
  errno = ENOENT;
  std::ifstream in(path, std::ios::binary);
  constexpr std::size_t max_size = std::size_t{16} << 20;
  std::string text;
  std::array<char, 1 << 16> piece{};
  while (text.size() <= max_size && (in.read(piece.data(), piece.size()), in.gcount() > 0)) {
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (text.size() > max_size) {
    throw std::runtime_error(path.string() + ": is longer than 16 MB");
  }
  if (!in.is_open() || in.bad()) {
    throw std::runtime_error(path.string() + ": cannot be read: " + std::strerror(errno));
  }
  return Source{path.string(), std::move(text)};
}

}  // namespace

std::vector<Source> read_sources(const std::vector<std::string>& paths) {
  std::vector<Source> sources;
  for (const auto& name : paths) {
    if (!std::filesystem::is_directory(name)) {
      sources.push_back(read_file(name));
      continue;
    }
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(name)) {
      const auto extension = entry.path().extension();
      if (entry.is_regular_file() && (extension == ".sys" || extension == ".nr")) {
        files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
    std::transform(files.begin(), files.end(), std::back_inserter(sources), read_file);
  }
  return sources;
}

}  // namespace tracer::sysc
