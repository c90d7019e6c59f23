// Reads lines of the configuration files that a process has opened.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "explain/prober.h"

namespace tracer::explain {

/// True if the name is that of a text that somebody writes by hand to set a program up, by its ending or its directory:
/// not of a library, a source, a database or a file of the kernel.
bool is_configuration_name(const std::string& path);

/// True if the name is that of a source of a program.
bool is_source_name(const std::string& path);

/// Returns the text with the passwords in addresses, `scheme://user:password@host`, replaced by asterisks.
std::string without_passwords(const std::string& text);

/// Returns a line with what follows a name such as `password` or `api_key`, and passwords in addresses, replaced by
/// asterisks.
std::string without_secrets(const std::string& text);

/// The lines of a regular file of at most 1 MiB that the process may read; none of another file.
class ConfigurationText {
 public:
  /// `path`: as the process sees it.
  ConfigurationText(const Prober& prober, const std::string& path);

  [[nodiscard]] std::size_t size() const { return lines_.size(); }
  /// Returns a line, counted from 1; empty if there is none.
  [[nodiscard]] std::string line(std::size_t number) const;
  /// Returns the number of the first line, except comments, that has the value as a word of its own; 0 if none has.
  [[nodiscard]] std::size_t line_with_value(std::string_view value) const;
  /// Returns the number of the line before `number` that lacks the semicolon with which the statements end; 0 if none
  /// does.
  [[nodiscard]] std::size_t unfinished_before(std::size_t number) const;

 private:
  std::vector<std::string> lines_;
};

}  // namespace tracer::explain
