// Runs of the whole program, and a place for what they leave.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "process.h"

namespace tracer::live {

struct Ran {
  std::vector<std::string> lines;
  int status = -1;

  [[nodiscard]] bool has(const std::string& line) const;
  [[nodiscard]] bool mentions(const std::string& text) const;
};

/// Runs a shell command in which $T is the tracer; its output, errors included.
Ran run(const std::string& command);

/// The first lines that differ, one below the other; empty if none do.
std::string difference(const std::vector<std::string>& ours, const std::vector<std::string>& theirs);

class Folder {
 public:
  Folder();
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string contents(const std::string& path);

}  // namespace tracer::live
