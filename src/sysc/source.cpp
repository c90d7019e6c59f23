#include "sysc/source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace tracer::sysc {

namespace {

Source read_file(const std::filesystem::path& path) {
  errno = ENOENT;
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) {
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
