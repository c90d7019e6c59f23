#include "app/speaker.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/printable.h"
#include "base/text_buffer.h"
#include "base/write_all.h"

namespace tracer::app {
namespace {

/// A line in the bytes that there are for it at any time.
void say_without_memory(std::string_view name, std::string_view sentence) {
  std::array<char, 256> line{};
  std::size_t size = 0;
  for (const std::string_view part : {name, std::string_view(": "), sentence}) {
    for (const char c : part.substr(0, line.size() - 1 - size)) {
      line[size++] = c >= ' ' && c <= '~' ? c : '?';
    }
  }
  line[size++] = '\n';
  say({line.data(), size});
}

}  // namespace

void say(std::string_view text) {
  // There is no other place to report an error of this to.
  static_cast<void>(write_all(STDERR_FILENO, text));
}

void Speaker::operator()(std::string_view sentence) const {
  try {
    TextBuffer text;
    text.append(name_);
    text.append(": ");
    append_printable(text, sentence);
    text.append('\n');
    say(text.view());
  } catch (const std::bad_alloc&) {  // the sentence is perhaps about that, and of a thread or at an end
    say_without_memory(name_, sentence);
  }
}

void Speaker::errors(std::string_view lines) const {
  TextBuffer text;
  text.append(name_);
  text.append(": ");
  for (std::size_t start = 0; start <= lines.size();) {
    const std::size_t end = std::min(lines.find('\n', start), lines.size());
    append_printable(text, lines.substr(start, end - start));
    text.append('\n');
    start = end + 1;
  }
  say(text.view());
}

int print(std::string_view text, const Speaker& speak) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error != 0) {
    speak(std::string("standard output: ") + std::strerror(error));
  }
  return error == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace tracer::app
