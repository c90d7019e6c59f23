#include "cli/tips.h"

#include <algorithm>
#include <array>
#include <random>
#include <string_view>

namespace tracer::cli {

namespace {

constexpr std::array<std::string_view, 14> tip_texts = {
    "-y shows what descriptors stand for: read(3</etc/passwd>, ...). With -yy you see\n"
    "the addresses of sockets and the numbers of devices, too.",
    "-P PATH shows only calls that touch PATH, by name or through a descriptor.",
    "--errno=ENOENT,EACCES shows only calls that failed with one of these errors:\n"
    "often all you need to know about a program that does not find its files.",
    "-f follows children and threads. With -ff -o FILE each has a file of its own.",
    "-e inject=openat:error=ENOENT:when=3 lets the third openat of each thread fail.\n"
    "What does your program do if the disk is full? -e fault=write:error=ENOSPC",
    "-c counts calls, errors and time. -C does so and traces as well; -w counts the\n"
    "time that passes, not the time that the processor works.",
    "--min-duration=100ms shows only calls that took that long.",
    "-e trace=%file, %process, %network, %signal, %ipc, %desc and %memory are classes\n"
    "of calls; -e trace=/^get is a regular expression.",
    "--format=json writes a record a line, made for jq and other programs.",
    "-p takes several ids, separated by commas or blanks: -p \"$(pidof nginx)\"",
    "-tt shows the time of day, -r the time since the line before, -T how long a\n"
    "call took.",
    "--define=FILE.sys teaches the tracer the ioctls of your driver while it runs.",
    "--pidns-translation shows what a process id inside a container is outside.",
    "--doctor says what this machine lets a tracer do, and how to get the rest.",
};

/// Returns the lines in a frame.
std::string framed(std::string_view text) {
  constexpr std::string_view line =
      "  ----------------------------------------------------------------------------------\n";
  constexpr std::size_t width = 80;
  std::string result(line);
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    result += " | " + std::string(part) + std::string(width - std::min(part.size(), width), ' ') + " |\n";
  }
  return result += line;
}

}  // namespace

std::string tip_text(const Tips& wanted) {
  const std::size_t id = wanted.random ? std::random_device{}() : wanted.id;
  const std::string_view tip = tip_texts[id % tip_texts.size()];
  return wanted.compact ? "Tip: " + std::string(tip) + '\n' : framed(tip);
}

}  // namespace tracer::cli
