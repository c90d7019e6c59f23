// Makes text of tracees safe to show: it cannot drive a terminal, forge a line or reorder one.
//
// Every name of a tracee passes through here where it enters: names of ELF symbols, DWARF entries, static probes,
// modules and /tmp/perf-PID.map, and what the tracer reports on standard error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tracer {
inline namespace base {

class TextBuffer;

/// Returns the length in bytes of the printable character at the start of `text`, which is not empty; 0 if there is
/// none. Printable is valid UTF-8 but control characters (C0, DEL, C1), line separators and marks of writing direction.
[[nodiscard]] std::size_t printable_length(std::string_view text);

[[nodiscard]] bool is_printable(std::string_view text);

/// Appends `text` with each byte that is not part of a printable character as `\ooo`.
void append_printable(TextBuffer& text, std::string_view name);

[[nodiscard]] std::string printable(std::string_view text);

}  // namespace base
}  // namespace tracer
