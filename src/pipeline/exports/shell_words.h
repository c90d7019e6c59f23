// Command lines to paste into a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tracer::pipeline::exports {

/// Returns bytes of a tracee as one word of a POSIX shell; where that cannot be printed, with bash's $'…'.
[[nodiscard]] std::string shell_word(std::string_view bytes);

/// Returns the words, separated by blanks.
[[nodiscard]] std::string shell_words(const std::vector<std::string>& words);

}  // namespace tracer::pipeline::exports
