#include "replay/viewer/capabilities.h"

#ifdef TRACER_TERMINFO
#include <cstdlib>

// These headers come last: they define short words as macros.
#include <curses.h>
#include <term.h>
#endif

namespace tracer::replay::viewer {

#ifdef TRACER_TERMINFO

namespace {

std::string string_of(const char* capability) {
  const char* text = ::tigetstr(capability);
  // Delays for terminals of the last century are not wanted: `$<5>`.
  std::string result = text == nullptr || text == reinterpret_cast<const char*>(-1) ? "" : text;
  for (std::size_t at = result.find("$<"); at != std::string::npos; at = result.find("$<")) {
    const std::size_t end = result.find('>', at);
    result.erase(at, end == std::string::npos ? end : end - at + 1);
  }
  return result;
}

std::string with_number(const std::string& capability, int number) {
  const char* text = capability.empty() ? nullptr : ::tiparm(capability.c_str(), number);
  return text == nullptr ? "" : text;
}

Error unsuitable(const char* why) {
  const char* name = std::getenv("TERM");
  return Error{0, std::string("the terminal TERM=") + (name == nullptr ? "" : name) + ' ' + why};
}

}  // namespace

std::string Capabilities::move_to(std::size_t row, std::size_t column) const {
  const char* text = ::tiparm(move.c_str(), static_cast<int>(row), static_cast<int>(column));
  return text == nullptr ? "" : text;
}

Result<Capabilities> find_capabilities(int fd, bool colors) {
  int error = 0;
  if (::setupterm(nullptr, fd, &error) != OK) {
    return unsuitable(error < 0 ? "has no description: there are none on this machine (Debian: ncurses-base)"
                                : "is unknown");
  }
  Capabilities can = {string_of("smcup"),
                      string_of("rmcup"),
                      string_of("clear"),
                      string_of("el"),
                      string_of("sgr0"),
                      string_of("civis"),
                      string_of("cnorm"),
                      string_of("smkx"),
                      string_of("rmkx"),
                      string_of("cup"),
                      {},
                      {}};
  if (can.move.empty() || can.clear.empty() || can.to_line_end.empty()) {
    return unsuitable("cannot move its cursor");
  }
  const auto style = [&can](Style which) -> std::string& { return can.styles[static_cast<std::size_t>(which)]; };
  style(Style::reverse) = string_of("rev");
  style(Style::bold) = string_of("bold");
  style(Style::dim) = string_of("dim");
  if (colors && ::tigetnum("colors") >= 8) {
    const std::string foreground = string_of("setaf");
    style(Style::red) = with_number(foreground, 1);
    style(Style::yellow) = with_number(foreground, 3);
  }
  for (const auto& [capability, key] :
       {std::pair{"kcuu1", Key::up}, std::pair{"kcud1", Key::down}, std::pair{"kcub1", Key::left},
        std::pair{"kcuf1", Key::right}, std::pair{"kpp", Key::page_up}, std::pair{"knp", Key::page_down},
        std::pair{"khome", Key::home}, std::pair{"kend", Key::end}, std::pair{"kbs", Key::backspace}}) {
    if (std::string bytes = string_of(capability); !bytes.empty()) {
      can.keys.emplace_back(std::move(bytes), key);
    }
  }
  // What terminals send whose description says otherwise.
  for (const auto& [bytes, key] :
       {std::pair{"\033[A", Key::up},         std::pair{"\033[B", Key::down},    std::pair{"\033[D", Key::left},
        std::pair{"\033[C", Key::right},      std::pair{"\033OA", Key::up},      std::pair{"\033OB", Key::down},
        std::pair{"\033OD", Key::left},       std::pair{"\033OC", Key::right},   std::pair{"\033[5~", Key::page_up},
        std::pair{"\033[6~", Key::page_down}, std::pair{"\033[H", Key::home},    std::pair{"\033[F", Key::end},
        std::pair{"\033[1~", Key::home},      std::pair{"\033[4~", Key::end},    std::pair{"\033OH", Key::home},
        std::pair{"\033OF", Key::end},        std::pair{"\177", Key::backspace}, std::pair{"\b", Key::backspace},
        std::pair{"\r", Key::enter},          std::pair{"\n", Key::enter},       std::pair{"\003", Key::interrupt},
        std::pair{"\032", Key::suspend}}) {
    can.keys.emplace_back(bytes, key);
  }
  return can;
}

#else

std::string Capabilities::move_to(std::size_t /*row*/, std::size_t /*column*/) const {
  return {};
}

Result<Capabilities> find_capabilities(int /*fd*/, bool /*colors*/) {
  return Error{0, "this program was built without terminfo"};
}

#endif

}  // namespace tracer::replay::viewer
