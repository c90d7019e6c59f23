#include "app/speaker.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/printable.h"
#include "base/text_buffer.h"
#include "base/write_all.h"

namespace tracer::app {

void say(std::string_view text) {
  // There is no other place to report an error of this to.
  static_cast<void>(write_all(STDERR_FILENO, text));
}

void Speaker::operator()(std::string_view sentence) const {
  TextBuffer text;
  text.append(name_);
  text.append(": ");
  append_printable(text, sentence);
  text.append('\n');
  say(text.view());
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
